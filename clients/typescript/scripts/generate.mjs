/*
 * Generates src/openapi.gen.ts, the types of every operation, from docs/openapi.json. Does nothing if the document has not
 * changed: the first line of the generated file contains its hash.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const SOURCE = at("../../../docs/openapi.json");
const TARGET = at("../src/openapi.gen.ts");

const text = readFileSync(SOURCE);
const mark = `// Made by \`npm run generate\` from docs/openapi.json, sha256 ${createHash("sha256").update(text).digest("hex")}`;
const isCurrent = existsSync(TARGET) && readFileSync(TARGET, "utf8").startsWith(`${mark}\n`);

if (!isCurrent) {
  await import("./use-compiler.mjs");
  const { default: openapi, astToString } = await import("openapi-typescript").catch((error) => {
    console.error("Cannot generate the client's types, because packages are missing. Run `npm install`.");
    throw error;
  });
  const types = astToString(await openapi(text, { defaultNonNullable: false, silent: true }));
  const part = `${TARGET}.${process.pid}`;
  writeFileSync(part, `${mark}\n${types}`);
  renameSync(part, TARGET);
  console.log("clients/typescript/src/openapi.gen.ts");
}
