import type { Column, Shape } from "./column";

/**
 * A composite type of the database, defined by one list of members. A statement that omits a member does not compile, and the
 * order is that of the type.
 */
export function composite<S extends Shape>(name: string, members: S) {
  const order = Object.keys(members) as (keyof S & string)[]; // its own keys
  return {
    members,
    /** A row of the type. Each member is the column of its name, unless `elsewhere` has an expression for it. */
    row: (elsewhere: { [N in keyof S]?: string } = {}): string =>
      `ROW(${order.map((member) => elsewhere[member] ?? member).join(", ")})::${name}`,
    /** The statement that creates the type (`prisma/guards`). */
    create: `CREATE TYPE "${name}" AS (${order.map((member) => `"${member}" ${nameOf(members[member]!)}`).join(", ")});`,
  };
}

/** Types whose name in DDL differs from the one in the catalog. */
const NAMES: Record<string, string> = { bool: "boolean", int4: "integer", int8: "bigint" };
const nameOf = ({ type }: Column): string => NAMES[type] ?? type;
