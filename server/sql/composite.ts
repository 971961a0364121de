import type { Column, Shape } from "./column";

/**
 * A composite type of the database, from one list of its members: a statement that sends it without a member does not compile,
 * and the order is that of the type.
 */
export function composite<S extends Shape>(name: string, members: S) {
  const order = Object.keys(members) as (keyof S & string)[]; // its own keys
  return {
    members,
    /** A row of the type, of columns that have its members' names, except those that come from elsewhere. */
    row: (elsewhere: { [N in keyof S]?: string } = {}): string =>
      `ROW(${order.map((member) => elsewhere[member] ?? member).join(", ")})::${name}`,
    /** The statement that made it (`prisma/guards`). */
    create: `CREATE TYPE "${name}" AS (${order.map((member) => `"${member}" ${nameOf(members[member]!)}`).join(", ")});`,
  };
}

/** The types that have another name in a table's definition than in the catalog. */
const NAMES: Record<string, string> = { bool: "boolean", int4: "integer", int8: "bigint" };
const nameOf = ({ type }: Column): string => NAMES[type] ?? type;
