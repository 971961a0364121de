import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Weight of a page without any content of ours, in KB as `gzip -9` counts: React and Next itself. */
export const EMPTY_PAGE_KB = 134.8;

const MANIFEST = "/page_client-reference-manifest.js";
type Manifest = { entryJSFiles: Record<string, string[]> };

/** Weight of the JavaScript that each page of a build loads, in KB as `gzip -9` counts, heaviest first. */
export function pageWeights(build: string): { page: string; kb: number }[] {
  const sizes = new Map<string, number>();
  const sizeOf = (file: string) => {
    const known = sizes.get(file) ?? gzipSync(readFileSync(join(build, file)), { level: 9 }).length;
    sizes.set(file, known);
    return known;
  };
  const { rootMainFiles } = JSON.parse(readFileSync(join(build, "build-manifest.json"), "utf8")) as {
    rootMainFiles: string[];
  };
  const app = join(build, "server/app");
  return readdirSync(app, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(MANIFEST))
    .map((path) => {
      const page = path.slice(0, -MANIFEST.length);
      const { entryJSFiles } = manifestIn(readFileSync(join(app, path), "utf8"));
      // Error boundaries are loaded with the page as well.
      const files = new Set([...rootMainFiles, ...Object.values(entryJSFiles).flat()]);
      return { page, kb: [...files].reduce((sum, file) => sum + sizeOf(file), 0) / 1024 };
    })
    .sort((one, other) => other.kb - one.kb);
}

/** Next writes the manifest as a script that assigns it. */
const manifestIn = (script: string): Manifest =>
  JSON.parse(script.slice(script.indexOf("] = ") + 4).replace(/;\s*$/, ""));
