/*
 * Builds dist: each entry as one JavaScript module that includes the code shared with the service, and its type
 * declarations. The installed package needs nothing of the service.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import "./generate.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const here = fileURLToPath(new URL("..", import.meta.url));
const types = join(here, "dist/types");

const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

rmSync(join(here, "dist"), { recursive: true, force: true });
const shared = {
  bundle: true,
  packages: "external",
  format: "esm",
  target: "es2022",
  outdir: join(here, "dist"),
  logLevel: "warning",
};
// The service's own files are imported from its root; every other import is a package.
const own = { alias: { "@/server": join(root, "server"), "@/scripts": join(root, "scripts") } };
await build({
  ...shared,
  ...own,
  entryPoints: [join(here, "src/index.ts"), join(here, "src/verify.ts")],
  splitting: true,
  platform: "neutral",
});
await build({
  ...shared,
  ...own,
  entryPoints: { cli: join(here, "src/cli/main.ts") },
  platform: "node",
  define: { CAPSTAN_CLIENT_VERSION: JSON.stringify(version) },
  banner: { js: "#!/usr/bin/env node" },
});

const compiler = join(root, "node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [compiler, "-p", join(here, "tsconfig.build.json")], { stdio: "inherit" });

// Node's module resolution needs file extensions.
for (const file of filesIn(types)) {
  const text = readFileSync(file, "utf8").replace(
    /(from |import\()"((?:\.|@\/)[^"]*)"/g,
    (_, before, name) => {
      const path = name.startsWith("@/") ? join(types, name.slice(2)) : join(dirname(file), name);
      const found = existsSync(`${path}.d.ts`) ? `${path}.js` : join(path, "index.js");
      const short = relative(dirname(file), found);
      return `${before}"${short.startsWith(".") ? short : `./${short}`}"`;
    },
  );
  writeFileSync(file, text);
}

function filesIn(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : path.endsWith(".ts") ? [path] : [];
  });
}
