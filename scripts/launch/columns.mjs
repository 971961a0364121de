// A generator that Prisma runs: writes each table of the schema as typed columns, from Prisma's description in lines of JSON
// (JSON-RPC over stdin and stderr). A comment `/// @ts Name from "module"` gives a column its TypeScript type; `/// @later` says
// that a new row does not get this column from its maker: the table's `…Later` has the value.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** SQL type and TypeScript type. int8 is a number; a larger value is refused when it is read (server/platform/db.ts). */
const SCALARS = {
  String: ["text", "string"],
  Int: ["int4", "number"],
  BigInt: ["int8", "number"],
  Float: ["float8", "number"],
  Boolean: ["bool", "boolean"],
  DateTime: ["timestamptz", "Date"],
  Json: ["jsonb", "Json"],
  Bytes: ["bytea", "Buffer"],
  Decimal: ["numeric", "string"],
};
const LATER = /^@later$/m;
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

function write({ dmmf, generator }) {
  const imports = new Map([["@/server/platform/durable/step", new Set(["Json"])]]);
  const tables = dmmf.datamodel.models.map((model) => {
    const columns = model.fields
      .filter(({ kind }) => kind !== "object")
      .map((field) => columnOf(field, imports));
    const table = camel(model.dbName ?? model.name);
    const later = model.fields.filter(({ documentation = "" }) => LATER.test(documentation)).map(newValueOf);
    return [
      `export const ${table} = {\n${columns.join("\n")}\n};\n`,
      ...(later.length > 0 ? [`export const ${table}Later = {\n${later.join("\n")}\n};\n`] : []),
    ].join("\n");
  });
  const types = [...imports].map(
    ([from, names]) => `import type { ${[...names].sort().join(", ")} } from "${from}";`,
  );
  const head = `// Written by \`npm run generate\` from prisma/schema. Do not edit.\nimport { column, list } from "@/server/sql/column";`;
  writeFileSync(generator.output.value, `${head}\n${types.join("\n")}\n\n${tables.join("\n")}`);
}

function columnOf({ name, dbName, type, nativeType, documentation = "", isList, isRequired }, imports) {
  let [sql, ts] = SCALARS[type];
  if (nativeType?.[0] === "Date") sql = "date";
  const own = /^@ts (.+?)(?: from "(.+)")?$/m.exec(documentation);
  if (own) ts = own[1];
  if (own?.[2]) imports.set(own[2], (imports.get(own[2]) ?? new Set()).add(own[1].replace(/\W.*$/, "")));
  const doc = documentation
    .replace(/^@ts .*$/m, "")
    .replace(LATER, "")
    .trim();
  const made = isList
    ? `list<${ts}>("${sql}[]")`
    : `column<${ts}${isRequired ? "" : " | null"}>("${sql}"${isRequired ? "" : ", true"})`;
  return `${doc && `  /** ${doc.replaceAll("\n", "\n   * ")} */\n`}  ${dbName ?? name}: ${made},`;
}

/** The value of a column in a new row: its default, or null. */
function newValueOf({ name, dbName, type, default: value = null }) {
  return `  ${dbName ?? name}: ${type === "Json" && value !== null ? value : JSON.stringify(value)},`;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "generate") write(params);
  const result = method === "getManifest" ? { manifest: { prettyName: "columns" } } : null;
  process.stderr.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
