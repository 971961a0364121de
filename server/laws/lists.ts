import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Override = { includes: string[]; linter: { rules: Record<string, Record<string, unknown>> } };
type Config = { vcs?: unknown; overrides: Override[] };

/** Finds the lists of biome.json: overrides that name files one by one and switch one rule off for them. */
export const listsOf = ({ overrides }: Pick<Config, "overrides">) =>
  overrides.flatMap(({ includes, linter: { rules } }) => {
    const [[group, names] = ["", {}]] = Object.entries(rules);
    const [name] = Object.keys(names);
    return name && !includes.some((file) => file.includes("*"))
      ? [{ rule: `${group}/${name}`, files: includes }]
      : [];
  });

/** Finds files on a list of biome.json that keep its rule by now, or are gone. */
export function faultsOfLists(root: string): string[] {
  const config: Config = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  const lists = listsOf(config);
  const folder = mkdtempSync(join(tmpdir(), "biome-lists-"));
  try {
    const overrides = config.overrides.filter(({ includes }) => includes.some((file) => file.includes("*")));
    writeFileSync(join(folder, "biome.json"), JSON.stringify({ ...config, vcs: undefined, overrides }));
    return lists.flatMap(({ rule, files }) => {
      const breakers = breakersOf(root, folder, rule, files);
      return files
        .filter((file) => !breakers.has(file))
        .map((file) => `${file} keeps ${rule}, or is gone: take it off the list in biome.json.`);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function breakersOf(root: string, config: string, rule: string, files: string[]): Set<string> {
  const options = [`--config-path=${config}`, `--only=${rule}`, "--reporter=json", "--max-diagnostics=none"];
  const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), ["lint", ...options, ...files], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const { diagnostics }: { diagnostics: { location: { path: string } }[] } = JSON.parse(stdout);
  return new Set(diagnostics.map(({ location }) => location.path));
}
