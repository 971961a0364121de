import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { OLD_COMMIT } from "./known";

/*
 * tsx testing/upgrades/write.ts [--packages FOLDER]
 *
 * Writes `testing/upgrades/0.2.0` anew: checks that version out, runs some of its own tests to see the statements it sends,
 * then `0.2.0/world.ts`, which makes an installation and dumps it. `--packages`: a node_modules of that version, to be linked
 * in the place of `npm ci`.
 */

/**
 * Together these suites send the statements of that version: requests of every operation, workers, the panel, webhooks,
 * money.
 */
const SUITES = [
  "server/operations/statuses",
  "server/operations/tenant-matrix.db.test.ts",
  "server/trpc",
  ...["jobs/running", "pins", "webhooks", "budgets", "billing", "sessions", "comparisons"].map(
    (noun) => `server/domain/${noun}`,
  ),
  "inngest",
];
const HERE = import.meta.dirname;

const { values } = parseArgs({ options: { packages: { type: "string" } } });
if (values.packages !== undefined && !existsSync(join(values.packages, "vitest"))) {
  console.error("--packages must be a node_modules folder of 0.2.0.");
  process.exit(2);
}
const checkout = mkdtempSync(join(tmpdir(), "capstan-0.2.0-"));
const run = (command: string, args: string[], env: Record<string, string> = {}, mayFail = false) => {
  try {
    execFileSync(command, args, { cwd: checkout, stdio: "inherit", env: { ...process.env, ...env } });
  } catch (error) {
    if (!mayFail) throw error;
  }
};
try {
  execFileSync("git", ["clone", "--quiet", "--no-checkout", resolve(HERE, "../.."), checkout]);
  run("git", ["checkout", "--quiet", OLD_COMMIT]);
  if (values.packages) execFileSync("cp", ["-al", resolve(values.packages), join(checkout, "node_modules")]);
  else run("npm", ["ci"]);
  run("npm", ["run", "-s", "generate"]);
  mkdirSync(join(checkout, "testing/upgrades"));
  for (const name of ["dump.ts", "record.mjs"])
    copyFileSync(join(HERE, name), join(checkout, "testing/upgrades", name));
  copyFileSync(join(HERE, "0.2.0/world.ts"), join(checkout, "testing/upgrades/world.isolated.test.ts"));
  const [seen, out] = [join(checkout, "statements"), join(checkout, "written")];
  mkdirSync(out);
  const record = {
    NODE_OPTIONS: `--import ${join(checkout, "testing/upgrades/record.mjs")}`,
    STATEMENTS_TO: seen,
  };
  // A test may fail on a busy machine; the statements that it sent are recorded regardless.
  run("npx", ["vitest", "run", "--tags-filter=!long", ...SUITES], record, true);
  run("npx", ["vitest", "run", "testing/upgrades"], { ...record, STATEMENTS_FROM: seen, UPGRADES_TO: out });
  cpSync(out, join(HERE, "0.2.0"), { recursive: true });
} finally {
  rmSync(checkout, { recursive: true, force: true });
}
