import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { aligned } from "./launch/table";

/*
 * `npm run restore -- --from DIR`: a snapshot into an empty installation. Exit code 2 where it is refused, 1 where what was
 * restored does not hold.
 */

const USAGE = `Usage: npm run restore -- --from <directory> [--snapshot <name>]
  --from       the directory that npm run backup wrote to
  --snapshot   one of its snapshots, without: the newest`;

async function main(): Promise<number> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values } = readArguments();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  process.env.LOG_LEVEL ??= "error";
  const { restore } = await import("./backup/restore");
  const done = await restore({ from: resolve(values.from ?? ""), snapshot: values.snapshot });
  const { tables, artifacts, capstan, postgres } = done.manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const lines = [
    ["snapshot", `${done.folder}, of Capstan ${capstan} on PostgreSQL ${postgres}`],
    ["tables", `${tables.length} with ${rows} rows, as many as were backed up`],
    [
      "artifacts",
      `${artifacts.count - artifacts.missing.length - done.missingArtifacts.length} of ${artifacts.count}`,
    ],
    ["receipts", `${done.receipts.verified} verified, ${done.receipts.wrong.length} wrong`],
    ["balances", done.differences.length === 0 ? "agree" : `${done.differences.length} differences`],
    ...done.held.map(({ kind, unfinished }) => ["held", `${unfinished} ${kind}`]),
  ];
  console.log(aligned(lines).join("\n"));
  const faults = [
    ...done.receipts.wrong.map((id) => `Does not verify: ${id}`),
    ...done.differences,
    ...done.missingArtifacts.map((sha256) => `Not in the artifact store: ${sha256}`),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    console.error(
      "Restored, but not all of it holds. Compare with an earlier snapshot before you use this installation.",
    );
    return 1;
  }
  console.log("Done. Unfinished work is held. To see it and let it go on: npm run admin -- restore release");
  return 0;
}

function readArguments() {
  try {
    const read = parseArgs({
      options: {
        from: { type: "string" },
        snapshot: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (read.values.help || read.values.from) return read;
  } catch {
    // the usage says what is wrong
  }
  console.error(USAGE);
  process.exit(2);
}

main().then(
  (code) => process.exit(code),
  (error) => {
    const isRefused = error instanceof Error && error.name === "Refusal";
    console.error(isRefused ? error.message : error);
    process.exit(isRefused ? 2 : 1);
  },
);
