import { column } from "@/server/sql/column";
import { batch } from "@/server/sql/statement";

type SqlType = "text" | "text[]" | "int" | "bigint" | "boolean" | "timestamptz" | "jsonb";
type Columns<Item> = { readonly [Name in keyof Item]-?: SqlType };

/** How a common table that only selects from `input` is kept. */
export const OF_INPUT = "$perInput";

/** A batch that does not say yet what it returns. */
export function statementOver<Item extends object>(name: string, columns: Columns<Item>, rest: string) {
  const types = Object.entries<SqlType>(columns).map(([key, type]) => [key, column(type, true)]);
  const { query } = batch(name, {
    input: Object.fromEntries(types),
    row: null,
    sql: `WITH input AS $input${rest}`,
  });
  return (items: Item[]) => query(items as Record<string, unknown>[]); // the keys of Columns<Item>
}
