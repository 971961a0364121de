import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { findDatabase } from "./find-database";
import { aligned } from "./launch/table";

/* `npm run backup -- --to DIR`: a snapshot of the running installation. Exit code 2 if it is refused. */

const USAGE = `Usage: npm run backup -- --to <directory> [--without-artifacts]
  --to                  where backups are kept: each run adds a snapshot of the database and the artifacts that are new
  --without-artifacts   the database alone, where the artifacts are kept by other means`;

async function main(): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values } = readArguments();
  if (values.help) return console.log(USAGE);
  findDatabase();
  process.env.LOG_LEVEL ??= "error";
  // Imported late, because these modules open the database found above.
  const { backUp } = await import("./backup/back-up");
  const { closeDatabase } = await import("@/server/platform/db");
  const withArtifacts = !values["without-artifacts"];
  const done = await backUp({ to: resolve(values.to ?? ""), withArtifacts }).finally(closeDatabase);
  const { tables, artifacts } = done.manifest;
  const sum = (figure: "rows" | "bytes") => tables.reduce((total, table) => total + table[figure], 0);
  const rows = [
    ["snapshot", done.folder],
    ["tables", `${tables.length} with ${sum("rows")} rows, ${megabytes(sum("bytes"))}`],
    [
      "artifacts",
      withArtifacts
        ? `${artifacts.count}, ${megabytes(artifacts.bytes)}; ${done.newArtifacts} of them new here`
        : `${artifacts.count} named, not copied`,
    ],
  ];
  console.log(aligned(rows).join("\n"));
  if (artifacts.missing.length > 0)
    console.error(
      `The artifact store does not have ${artifacts.missing.length} of the artifacts; the manifest lists them. Look for them in an earlier backup.`,
    );
}

function readArguments() {
  try {
    const read = parseArgs({
      options: {
        to: { type: "string" },
        "without-artifacts": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (read.values.help || read.values.to) return read;
  } catch {
    // The usage explains what is wrong.
  }
  console.error(USAGE);
  process.exit(2);
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

main().catch((error) => {
  const isRefused = error instanceof Error && error.name === "Refusal";
  console.error(isRefused ? error.message : error);
  process.exit(isRefused ? 2 : 1);
});
