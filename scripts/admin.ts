import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/*
 * The admin command: what the panel can do, for scripts. It works on the database of the running installation
 * directly, so whoever may read the data directory (or knows DATABASE_URL) is its operator.
 */

/** The database: DATABASE_URL, else the one of the installation that runs over the data directory. */
function findDatabase(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
  try {
    return z.object({ databaseUrl: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).databaseUrl;
  } catch {
    throw new Error(
      `Nothing runs here: ${file} is not there or cannot be read. Start it with npm run up, or set DATABASE_URL.`,
    );
  }
}

async function main(): Promise<void> {
  // The settings of the installation, as its start reads them; those of the environment win.
  if (existsSync(".env")) process.loadEnvFile(".env");
  try {
    process.env.DATABASE_URL = findDatabase();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
  process.env.LOG_LEVEL ??= "error";
  // Loaded late: these modules open the database that was found just now.
  const { runAdmin } = await import("./admin-command");
  const { closeDatabase } = await import("@/server/db");
  const { code, out, error } = await runAdmin(process.argv.slice(2));
  if (out) console.log(out);
  if (error) console.error(error);
  await closeDatabase();
  process.exitCode = code;
}

main().catch((error) => {
  const isUnreachable =
    error instanceof Error && "code" in error && ["P1001", "ECONNREFUSED"].includes(String(error.code));
  console.error(isUnreachable ? "The database does not answer. Is the installation running?" : error);
  process.exit(1);
});
