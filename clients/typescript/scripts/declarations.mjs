import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The libraries whose types the client's own types refer to. */
const LIBRARIES = ["openapi-fetch", "openapi-typescript-helpers"];
const OPERATIONS = "clients/typescript/src/openapi.gen";

/**
 * Writes dist/types for the ES module and dist/cjs/types for the CommonJS module. Both import only files of their own folder,
 * except the types of the operations, most of the package, which exist once.
 */
export function declare({ root, here, dist }) {
  const types = join(dist, "types");
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(here, "tsconfig.build.json")], { stdio: "inherit" });
  for (const name of LIBRARIES) {
    mkdirSync(join(types, name));
    cpSync(join(root, "node_modules", name, "dist/index.d.ts"), join(types, name, "index.d.ts"));
  }
  for (const file of declarationsIn(types))
    writeFileSync(file, withFiles(readFileSync(file, "utf8"), file, types));

  const forCommonJs = join(dist, "cjs/types");
  const operations = join(types, `${OPERATIONS}.d.ts`);
  cpSync(types, forCommonJs, { recursive: true, filter: (source) => source !== operations });
  const target = join(forCommonJs, `${OPERATIONS}.d.ts`);
  const shared = relative(dirname(target), operations).replace(/\.d\.ts$/, ".js");
  writeFileSync(target, `export type * from "${shared}" with { "resolution-mode": "import" };\n`);
}

/** Each import as a path with an extension, which Node's module resolution needs. */
const withFiles = (text, file, types) =>
  text.replace(/(from |import\()["']([^"']*)["']/g, (whole, before, name) => {
    const path = LIBRARIES.includes(name)
      ? join(types, name)
      : name.startsWith("@/")
        ? join(types, name.slice(2))
        : name.startsWith(".")
          ? join(dirname(file), name)
          : null;
    if (path === null) return whole;
    const found = existsSync(`${path}.d.ts`) ? `${path}.js` : join(path, "index.js");
    const short = relative(dirname(file), found);
    return `${before}"${short.startsWith(".") ? short : `./${short}`}"`;
  });

const declarationsIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
