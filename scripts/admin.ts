import { existsSync } from "node:fs";
import { USAGE } from "./admin/usage";
import { findDatabase } from "./find-database";

/*
 * The admin command: the panel's administration, for scripts. It uses the database of the running installation directly,
 * so anyone who can read the data directory (or knows DATABASE_URL) is its operator.
 */

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg === "--help" || arg === "-h")) return console.log(USAGE); // needs no installation
  // The installation's settings, as read on start; environment variables take precedence.
  if (existsSync(".env")) process.loadEnvFile(".env");
  findDatabase();
  process.env.LOG_LEVEL ??= "error";
  // Imported late, because these modules open the database found above.
  const { runAdmin } = await import("./admin/command");
  const { closeDatabase } = await import("@/server/platform/db");
  const { code, out, error } = await runAdmin(args);
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
