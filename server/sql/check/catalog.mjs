import { readTree } from "./parse-tree.mjs";

/** Functions that return null only if an argument is null. */
const NEVER_NULL = new Set(
  `now clock_timestamp transaction_timestamp statement_timestamp date_trunc date_part extract length octet_length lower upper
  to_char btrim jsonb_array_length json_array_length jsonb_build_object json_build_object jsonb_build_array json_build_array
  to_jsonb to_json cardinality round ceil floor hashtextextended random split_part left right concat format encode decode
  trim_scale abs starts_with current_setting current_database array_remove coalesce replace make_interval num_nonnulls timezone
  generate_series array_to_string substr substring strpos least greatest current_user array_cat pg_try_advisory_xact_lock
  capstan_period_start capstan_reached`.split(/\s+/),
);

/** Columns, tables, types, functions and operators of the database, by their OIDs. */
export async function openCatalog(client) {
  const rows = async (text) => (await client.query(text)).rows;
  const columns = new Map();
  const tables = new Map();
  for (const row of await rows(
    `SELECT attrelid::int AS table, attnum AS at, attname AS name, attnotnull AS "notNull", relname AS rel
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE attnum > 0`,
  )) {
    columns.set(`${row.table}.${row.at}`, row);
    tables.set(row.table, row.rel);
  }
  const byOid = async (text) => new Map((await rows(text)).map((row) => [row.oid, row]));
  const operators = await byOid("SELECT oid::int, oprname AS name FROM pg_operator");
  const functions = await byOid("SELECT oid::int, proname AS name, proisstrict AS strict FROM pg_proc");
  const types = await byOid(
    `SELECT own.oid::int, coalesce(base.typname, own.typname) AS name
     FROM pg_type own LEFT JOIN pg_type base ON own.typtype = 'd' AND base.oid = own.typbasetype`,
  );
  const views = new Map();
  return {
    attr: (table, at) => columns.get(`${table}.${at}`),
    rel: (table) => tables.get(table),
    op: (oid) => operators.get(oid)?.name ?? "",
    fn: (oid) => functions.get(oid) ?? { name: "?", strict: true },
    /** The type as columns declare it: a domain has its base type, an array its members' type and []. */
    type: (oid) => types.get(oid)?.name.replace(/^_(.*)$/, "$1[]") ?? "?",
    view: (table) => views.get(table) ?? null,
    neverNull: NEVER_NULL,
    loadViews: async (parse) => {
      for (const { oid, definition } of await rows(
        `SELECT oid::int, pg_get_viewdef(oid) AS definition FROM pg_class
         WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace`,
      ))
        views.set(oid, (await parse(definition.replace(/;\s*$/, ""))).tree);
    },
  };
}

/** Has the server parse and describe a statement without running it. The server sends the parse tree as a log message. */
export function describer(client) {
  return (text) =>
    new Promise((resolve, reject) => {
      const { connection } = client;
      const seen = { params: [], fields: [], tree: null };
      const onNotice = ({ message, detail }) => {
        if (message === "parse tree:") seen.tree ??= readTree(detail);
      };
      const onParameters = ({ dataTypeIDs }) => {
        seen.params = dataTypeIDs ?? [];
      };
      const stop = () => {
        connection.off("notice", onNotice);
        connection.off("parameterDescription", onParameters);
      };
      connection.on("notice", onNotice);
      connection.on("parameterDescription", onParameters);
      client.query({
        submit: () => {
          connection.parse({ text, name: "", types: [] });
          connection.describe({ type: "S", name: "" });
          connection.sync();
          return null;
        },
        handleRowDescription: ({ fields }) => {
          seen.fields = fields;
        },
        // Only one of the two is called: after an error the driver considers the query finished.
        handleError: (error) => {
          stop();
          reject(error);
        },
        handleReadyForQuery: () => {
          stop();
          resolve(seen);
        },
      });
    });
}
