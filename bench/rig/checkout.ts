import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { commit } from "./report";

/** A folder with an installed and built version of Capstan. */
export type Checkout = { folder: string; commit: string };

/** The launcher, and the files that the install and the build write last. */
const PARTS = ["scripts/up.mjs", "node_modules/.package-lock.json", ".next/BUILD_ID", "dist/.built-from"];

/** The checkout in a folder. Throws if it is not installed, not built, or built from other sources. */
export function findCheckout(path: string): Checkout {
  const folder = resolve(path);
  const missing = PARTS.find((part) => !existsSync(join(folder, part)));
  if (missing !== undefined)
    throw new Error(`--against ${path} is no checkout that is installed and built: it has no ${missing}.`);
  if (isStale(folder))
    throw new Error(`--against ${path} was built from other sources than it has: run npm run build there.`);
  return { folder, commit: commit(folder) };
}

const STALE = 3;
const ASK = `import { isBuilt } from "./scripts/launch/build.ts"; process.exit(isBuilt() ? 0 : ${STALE});`;

/** True if the checkout's own launcher would build it again; false if the checkout cannot be asked. */
function isStale(cwd: string): boolean {
  const args = ["--import", "tsx", "--input-type=module", "--eval", ASK];
  return spawnSync(process.execPath, args, { cwd, stdio: "ignore" }).status === STALE;
}
