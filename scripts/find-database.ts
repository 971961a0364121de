import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/**
 * Sets DATABASE_URL, if it is unset, to the database of the installation running on the data directory. If none runs, ends the
 * process with a message and exit code 2.
 */
export function findDatabase(): void {
  if (process.env.DATABASE_URL) return;
  const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
  try {
    process.env.DATABASE_URL = z
      .object({ databaseUrl: z.string() })
      .parse(JSON.parse(readFileSync(file, "utf8"))).databaseUrl;
  } catch {
    console.error(
      `No installation is running here: ${file} does not exist or cannot be read. Start one with npm run up, or set DATABASE_URL.`,
    );
    process.exit(2);
  }
}
