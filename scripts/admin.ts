import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/*
 * The admin command: the panel's administration, for scripts. It uses the database of the running installation directly,
 * so anyone who can read the data directory (or knows DATABASE_URL) is its operator.
 */

/** The database: DATABASE_URL, or the one of the installation running on the data directory. */
function findDatabase(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
  try {
    return z.object({ databaseUrl: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).databaseUrl;
  } catch {
    throw new Error(
      `No installation is running here: ${file} does not exist or cannot be read. Start one with npm run up, or set DATABASE_URL.`,
    );
  }
}

async function main(): Promise<void> {
  // The installation's settings, as read on start; environment variables take precedence.
  if (existsSync(".env")) process.loadEnvFile(".env");
  try {
    process.env.DATABASE_URL = findDatabase();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
  process.env.LOG_LEVEL ??= "error";
  // Imported late, because these modules open the database found above.
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
  console.error(
    isUnreachable ? "The database does not respond. Check that the installation is running." : error,
  );
  process.exit(1);
});
