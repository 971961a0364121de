import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Checked } from "./backup/check";
import { findDatabase } from "./find-database";
import { aligned } from "./launch/table";

/*
 * `npm run restore -- --from DIR` restores a snapshot into an empty installation; `--check` checks an installation that was
 * restored by other means. Exits 2 when the restore is refused and 1 when something is missing or does not match.
 */

const USAGE = `Usage: npm run restore -- --from <directory> [--snapshot <name>]
       npm run restore -- --check
  --from       the directory that npm run backup wrote to
  --snapshot   one of its snapshots; without, the newest
  --check      verify receipts, balances and artifacts of an installation that was restored by other means`;

async function main(): Promise<number> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values } = readArguments();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  process.env.LOG_LEVEL ??= "error";
  if (values.check) {
    findDatabase();
    const { check } = await import("./backup/restore");
    return report([], await check());
  }
  const { restore } = await import("./backup/restore");
  const done = await restore({ from: resolve(values.from ?? ""), snapshot: values.snapshot });
  const { tables, capstan, postgres } = done.manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return report(
    [
      ["snapshot", `${done.folder}, of Capstan ${capstan} on PostgreSQL ${postgres}`],
      ["tables", `${tables.length} with ${rows} rows, as many as were backed up`],
    ],
    done,
  );
}

/** Prints what was found and returns the exit code. */
function report(
  first: string[][],
  { receipts, differences, artifacts, missingArtifacts, held }: Checked,
): number {
  const lines = [
    ...first,
    ["artifacts", `${artifacts}, ${missingArtifacts.length} missing`],
    ["receipts", `${receipts.verified} verified, ${receipts.wrong.length} wrong`],
    ["balances", differences.length === 0 ? "agree" : `${differences.length} differences`],
    ["held", held.map(({ kind, unfinished }) => `${unfinished} ${kind}`).join(", ") || "nothing"],
  ];
  console.log(aligned(lines).join("\n"));
  const faults = [
    ...receipts.wrong.map((id) => `Does not verify: ${id}`),
    ...differences,
    ...missingArtifacts.map((sha256) => `Not in the artifact store: ${sha256}`),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    console.error("Not all of it holds. Compare with an earlier snapshot before you use this installation.");
    return 1;
  }
  console.log(
    held.length > 0
      ? "Done. Unfinished work is held. To see it and let it go on: npm run admin -- restore release"
      : "Done.",
  );
  return 0;
}

function readArguments() {
  try {
    const read = parseArgs({
      options: {
        from: { type: "string" },
        snapshot: { type: "string" },
        check: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (read.values.help || Boolean(read.values.from) !== Boolean(read.values.check)) return read;
  } catch {
    // the usage below is the answer
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
