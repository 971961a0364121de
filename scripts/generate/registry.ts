import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

type Registry = { folder: string; file: RegExp; not?: RegExp; name: string };

/** Folders whose list of default exports is generated, so that adding a file is enough. */
const REGISTRIES: Registry[] = [
  { folder: "server/capabilities", file: /\.v\d+\.ts$/, name: "capabilities" },
  { folder: "server/providers", file: /\.ts$/, not: /^(define|http)\.ts$/, name: "providers" },
  { folder: "inngest/functions", file: /\.ts$/, name: "functions" },
];

/** Writes the registries of a checkout and returns the paths of the changed ones. */
export function writeRegistries(root: string): string[] {
  const changed: string[] = [];
  for (const { folder, file, not, name } of REGISTRIES) {
    const directory = join(root, folder);
    mkdirSync(directory, { recursive: true });
    const modules = readdirSync(directory)
      .filter((entry) => file.test(entry) && !not?.test(entry) && !/\.(test|gen|d)\.ts$/.test(entry))
      .filter((entry) => /^export default /m.test(readFileSync(join(directory, entry), "utf8")))
      .map((entry) => basename(entry, ".ts"))
      .sort();
    const type = modules.length === 0 ? ": never[]" : ""; // an empty list has no type of its own
    const lines = [
      "// Written by scripts/generate/registry.ts from the files of this folder.",
      ...modules.map((module, index) => `import m${index} from "./${module}";`),
      "",
      `export const ${name}${type} = [${modules.map((_, index) => `m${index}`).join(", ")}];`,
      "",
    ];
    const target = join(directory, "registry.gen.ts");
    const content = lines.join("\n");
    if (existsSync(target) && readFileSync(target, "utf8") === content) continue;
    writeFileSync(target, content);
    changed.push(join(folder, "registry.gen.ts"));
  }
  return changed;
}
