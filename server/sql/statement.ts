import type { Queryable } from "@/server/platform/db";
import type { Given, Of, Shape } from "./column";

type NoShape = Record<never, never>;

/** A statement's SQL text with its declared parameters and columns. */
export type Registered = { name: string; text: string; params: Shape; row: Shape; isMany: boolean };

const registry: Registered[] = [];
/** Every statement of the loaded modules. server/sql/statements.db.test.ts checks them against the database. */
export const registered = (): readonly Registered[] => registry;

/** Removes comments and line breaks, because the server copies a statement's text each time it runs. */
const short = (sql: string) =>
  sql
    .replace(/^ *--.*$/gm, "")
    .replace(/\s*\n\s*/g, " ")
    .trim();

/** Throws if a shape names a column that the schema does not have. */
function refuseMissing(name: string, ...shapes: Shape[]): void {
  const missing = shapes.flatMap((shape) => Object.keys(shape).filter((key) => !shape[key]?.type));
  if (missing.length > 0) throw new Error(`${name}: the schema has no column ${missing.join(", ")}.`);
}

/** Replaces `$jobId` by `$1`, in the order of `params`. Throws for an unknown or unused parameter. */
function numbered(name: string, params: Shape, sql: string): string {
  const places = Object.keys(params);
  const used = new Set<string>();
  const text = sql.replace(/\$([a-zA-Z]\w*)/g, (_, key: string) => {
    if (!places.includes(key)) throw new Error(`${name}: $${key} is not one of its parameters.`);
    used.add(key);
    return `$${places.indexOf(key) + 1}`;
  });
  const unused = places.filter((key) => !used.has(key));
  if (unused.length > 0) throw new Error(`${name}: nothing uses ${unused.join(", ")}.`);
  return text;
}

function toParameter(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type === "jsonb") return JSON.stringify(value);
  return value instanceof Date ? value.toISOString() : value;
}

/** Makes a function that lists an object's values of these parameters in their order. */
function lister(params: Shape) {
  const listed = Object.entries(params).map(([key, { type }]) => ({ key, type }));
  return (given: object) =>
    listed.map(({ key, type }) => toParameter((given as Record<string, unknown>)[key], type)); // `given` has the keys of `params`
}

/**
 * Declares one statement: its parameters (`$name` in the text), the row that it returns, and its text. With `prepared`, the
 * server keeps the statement under its name. Throws when it is declared if text and parameters do not match.
 */
export function statement<P extends Shape = NoShape, R extends Shape = NoShape>(
  name: string,
  {
    params = {} as P, // an absent shape has the default type, NoShape
    row = {} as R, // an absent shape has the default type, NoShape
    sql,
    prepared = false,
  }: { params?: P; row?: R; sql: string; prepared?: boolean },
) {
  refuseMissing(name, params, row);
  const text = numbered(name, params, short(sql));
  registry.push({ name, text, params, row, isMany: false });
  const valuesOf = lister(params);
  const run = (db: Queryable, given: Given<P>) =>
    db.query<Of<R>>({ ...(prepared ? { name } : {}), text, values: valuesOf(given) });
  return {
    all: async (db: Queryable, given: Given<P>): Promise<Of<R>[]> => (await run(db, given)).rows,
    first: async (db: Queryable, given: Given<P>): Promise<Of<R> | null> =>
      (await run(db, given)).rows[0] ?? null,
    /** Runs the statement and ignores its rows. */
    run: async (db: Queryable, given: Given<P>): Promise<void> => {
      await run(db, given);
    },
    /** The number of rows that were written or returned. */
    count: async (db: Queryable, given: Given<P>): Promise<number> => (await run(db, given)).rowCount ?? 0,
  };
}

/**
 * Declares one statement for any number of rows. `$input` is replaced by the SQL of the common table `input`, and `$perInput`
 * by MATERIALIZED or NOT MATERIALIZED for common tables that only select from `input`: several rows are read once, and for
 * one row the planner inlines the parameters.
 * One row is sent as plain parameters, several as one JSON text. JSON lets a statement carry any number of rows under one
 * name. Plain parameters carry a large request as the bytes to store, which JSON cannot, and save PostgreSQL the parsing:
 * without them an invoke at one connection took 22 % more CPU of PostgreSQL, and 9 % more with the web process (Node 24,
 * medians of nine paired rounds, beside other load).
 */
export function batch<I extends Shape, R extends Shape>(
  name: string,
  { input, row, sql }: { input: I; row: R; sql: string },
) {
  refuseMissing(name, input, row);
  const types = Object.entries(input).map(([key, { type }]) => [key, type] as const);
  const key = types.find(([, type]) => type === "text")?.[0];
  const one = `NOT MATERIALIZED (SELECT ${types.map(([each, type], at) => `$${at + 1}::${type} AS "${each}"`).join(", ")})`;
  // The condition is always true. Without it the planner expects a hundred rows in every recordset and few in a young table,
  // and keeps a plan that scans whole tables as they grow; with it, the planner expects one row and uses the tables' indexes.
  const many = `MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS x(${types
    .map(([each, type]) => `"${each}" ${type}`)
    .join(", ")}) WHERE left("${key}", 0) = '')`;
  const textOf = (rows: string, kept: string) =>
    short(sql.replace("$input", rows).replaceAll("$perInput", kept));
  const forOne = textOf(one, "NOT MATERIALIZED");
  const forMany = textOf(many, "MATERIALIZED");
  registry.push({ name: `${name}-one`, text: forOne, params: input, row, isMany: false });
  registry.push({ name: `${name}-many`, text: forMany, params: input, row, isMany: true });
  const valuesOf = lister(input);

  /** The query for these rows, to be passed to a pool. */
  const query = (items: Given<I>[]): { name: string; text: string; values: unknown[] } => {
    const [only] = items;
    if (!only || items.length > 1)
      return { name: `${name}-many`, text: forMany, values: [JSON.stringify(items)] };
    return { name: `${name}-one`, text: forOne, values: valuesOf(only) };
  };
  return {
    query,
    all: async (db: Queryable, items: Given<I>[]): Promise<Of<R>[]> =>
      (await db.query<Of<R>>(query(items))).rows,
  };
}
