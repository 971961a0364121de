import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findDatabase } from "../find-database";
import { findRuntime } from "../launch/runtime";

/*
 * npm run demo:seed [-- --jobs 10000]
 *
 * Fills an organization of its own, “Capstan demo”, in the running installation: ten thousand jobs of all capabilities and
 * states, budgets, comparisons, pinned executions, requests, webhooks, adapters, embeds and people, in test money only. Prints
 * the people who may sign in, and writes them to `demo.json` in the data directory. Refused in production and a second time.
 */

const { values } = parseArgs({ options: { jobs: { type: "string", default: "10000" } } });
const count = Number(values.jobs);
if (!Number.isInteger(count) || count < 50 || count > 100_000) {
  console.error("--jobs must be a whole number from 50 to 100000.");
  process.exit(2);
}
if (existsSync(".env")) process.loadEnvFile(".env");
findDatabase();
const dataDir = process.env.CAPSTAN_DATA_DIR || ".data";
const runtime = findRuntime(dataDir);
process.env.SANDBOX_URL ??= runtime?.sandboxUrl ?? undefined;
process.env.LOG_LEVEL ??= "silent";
process.env.CAPSTAN_DATA_DIR = dataDir;
// Imported late, because these modules read the settings made above.
const { makeDemo } = await import("./organization");
const { closeDatabase } = await import("@/server/platform/db");
const { Refusal } = await import("@/server/platform/settings/refusal");
const { env } = await import("@/server/platform/settings/env");
const { readSecrets } = await import("@/server/platform/settings/secrets");
env.NEXTAUTH_SECRET ??= readSecrets(env).nextAuthSecret;
try {
  const began = Date.now();
  const say = (what: string) => console.log(`[${((Date.now() - began) / 1000).toFixed(1)}s] ${what} …`);
  const demo = await makeDemo(count, say);
  const file = join(dataDir, "demo.json");
  writeFileSync(file, `${JSON.stringify({ baseUrl: runtime?.baseUrl, ...demo }, null, 2)}\n`, {
    mode: 0o600,
  });
  console.log(
    `Done in ${((Date.now() - began) / 1000).toFixed(0)} s. Sign in as one of these; also in ${file}:`,
  );
  for (const { role, email, password } of demo.people)
    console.log(`  ${role.padEnd(6)} ${email}  ${password}`);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 2;
} finally {
  await closeDatabase();
}
