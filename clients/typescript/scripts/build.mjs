/*
 * Builds dist: the client as an ES module and as a CommonJS module, the command, and the declarations of each. The code
 * shared with the service and the two libraries are included, so the installed package needs no other.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import "./generate.mjs";
import { declare } from "./declarations.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const here = fileURLToPath(new URL("..", import.meta.url));
const dist = join(here, "dist");

const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

rmSync(dist, { recursive: true, force: true });
const shared = {
  bundle: true,
  target: "es2022",
  logLevel: "warning",
  legalComments: "none", // their whole licences are in dist/licences.txt
  // The service's own files are imported from its root; every other import is a package.
  alias: { "@/server": join(root, "server"), "@/scripts": join(root, "scripts") },
};
const client = { ...shared, entryPoints: [join(here, "src/index.ts"), join(here, "src/verify.ts")] };
await build({ ...client, format: "esm", splitting: true, platform: "neutral", outdir: dist });
await build({
  ...client,
  format: "cjs",
  platform: "neutral",
  outdir: join(dist, "cjs"),
});
writeFileSync(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');
await build({
  ...shared,
  entryPoints: { cli: join(here, "src/cli/main.ts") },
  format: "esm",
  platform: "node",
  outdir: dist,
  define: { CAPSTAN_CLIENT_VERSION: JSON.stringify(version) },
  // commander is CommonJS and requires modules of Node.
  banner: {
    js: '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
  },
});

const included = ["commander", "openapi-fetch", "openapi-typescript-helpers"];
const licences = included.map((name) => {
  const folder = join(root, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(dist, "licences.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));

declare({ root, here, dist });
