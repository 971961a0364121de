import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

// Names that builds and runs generate, or that are irrelevant for the build.
const SKIPPED =
  /^(node_modules|\.next|\.data|\.git|dist|test-results|playwright-report|generated)$|\.(gen\.ts|test\.tsx?|tsbuildinfo)$/;

/** A hash over the names and contents of files and folders; `SKIPPED` names and missing paths do not count. */
export function fingerprint(paths: string[], ...extra: string[]): string {
  const hash = createHash("sha256");
  for (const path of [...paths].sort()) add(hash, path);
  for (const text of extra) hash.update(`\0${text}`);
  return hash.digest("hex");
}

function add(hash: ReturnType<typeof createHash>, path: string) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.isDirectory()) {
    for (const name of readdirSync(path).sort()) if (!SKIPPED.test(name)) add(hash, join(path, name));
  } else hash.update(`\0${path}\0${stat.size}\0`).update(readFileSync(path));
}
