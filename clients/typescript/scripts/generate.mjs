/*
 * Writes src/openapi.gen.ts, the types of every operation, from docs/openapi.json. Quick when the document is the one
 * they were made of: the first line of what is written names its hash.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const SOURCE = at("../../../docs/openapi.json");
const TARGET = at("../src/openapi.gen.ts");

const text = readFileSync(SOURCE);
const mark = `// Made by \`npm run generate\` from docs/openapi.json, sha256 ${createHash("sha256").update(text).digest("hex")}`;
const isCurrent = existsSync(TARGET) && readFileSync(TARGET, "utf8").startsWith(`${mark}\n`);

if (!isCurrent) {
  const compiler = new URL("./compiler.mjs", import.meta.url).href;
  const hook = `export const resolve = (name, context, next) => next(name === "typescript" ? "${compiler}" : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const { default: openapi, astToString } = await import("openapi-typescript").catch((error) => {
    console.error(
      "The types of the client cannot be made: run `npm install`, package.json has new packages.",
    );
    throw error;
  });
  const document = JSON.parse(text.toString());
  // A schema of any JSON names itself, which a type must not; any JSON is `unknown`.
  for (const [name, schema] of Object.entries(document.components.schemas))
    if (name.startsWith("__") && JSON.stringify(schema).includes(`#/components/schemas/${name}"`))
      document.components.schemas[name] = {};
  const types = astToString(await openapi(document, { defaultNonNullable: false, silent: true }));
  const part = `${TARGET}.${process.pid}`;
  writeFileSync(part, `${mark}\n${types}`);
  renameSync(part, TARGET);
  console.log("clients/typescript/src/openapi.gen.ts");
}
