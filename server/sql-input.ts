type SqlType = "text" | "text[]" | "int" | "bigint" | "boolean" | "timestamptz" | "jsonb";
type Columns<Item> = { readonly [Name in keyof Item]-?: SqlType };

/**
 * How a common table that only selects from `input` is kept: several rows are read once, of one row the planner puts the
 * parameters where they are used.
 */
export const OF_INPUT = "MATERIALIZED /* rows of input */";

/**
 * The rows that one statement is about, as its first common table `input`: one row as plain parameters, several as one
 * JSON text. The second lets a statement carry any number of rows under one name. The first carries a large request as the
 * bytes to store, which JSON cannot, and spares PostgreSQL the reading of JSON: without it an invoke at one connection took
 * 22 % more CPU of PostgreSQL, 9 % more with the web process (Node 24, medians of nine paired rounds, beside other load).
 */
export function statementOver<Item extends object>(name: string, columns: Columns<Item>, rest: string) {
  const types = Object.entries(columns) as [keyof Item & string, SqlType][]; // the keys of Columns<Item>
  const one = types.map(([column, type], place) => `$${place + 1}::${type} AS "${column}"`);
  const many = types.map(([column, type]) => `"${column}" ${type}`);
  // Always true. Without it the planner expects a hundred rows in every recordset and few in a young table, and keeps
  // a plan that reads whole tables while they grow; with it, it expects one row and looks others up by their index.
  const few = `left("${types.find(([, type]) => type === "text")?.[0]}", 0) = ''`;
  // The server copies a statement's text each time it runs: what is only there for readers stays here.
  const short = (text: string) => text.replace(/^ *--.*$/gm, "").replace(/\s*\n\s*/g, " ");
  const forOne = short(
    `WITH input AS NOT MATERIALIZED (SELECT ${one.join(", ")})${rest.replaceAll(OF_INPUT, "NOT MATERIALIZED")}`,
  );
  const forMany = short(`WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS x(${many.join(", ")}) WHERE ${few})${rest}`);

  /** The query for these rows, to be given to a pool. */
  return (items: Item[]): { name: string; text: string; values: unknown[] } => {
    const [only] = items;
    if (!only || items.length > 1)
      return { name: `${name}-many`, text: forMany, values: [JSON.stringify(items)] };
    return {
      name: `${name}-one`,
      text: forOne,
      values: types.map(([column, type]) => toParameter(only[column], type)),
    };
  };
}

function toParameter(value: unknown, type: SqlType): unknown {
  if (value === null || value === undefined) return null;
  if (type === "jsonb") return JSON.stringify(value);
  return value instanceof Date ? value.toISOString() : value;
}
