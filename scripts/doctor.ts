import { existsSync } from "node:fs";
import { findDatabase } from "./find-database";
import { aligned } from "./launch/table";

/* `npm run doctor`: the checks of a start, as a table. Exit code 2 where a process would refuse to start. */
if (existsSync(".env")) process.loadEnvFile(".env");
findDatabase();
process.env.LOG_LEVEL ??= "error";
// Imported late, because these modules read the settings.
const { pool } = await import("@/server/platform/db");
const { examine } = await import("@/server/start-up");
const { correctedTimes } = await import("@/server/corrected-times");
const { REFUSED } = await import("@/server/platform/settings/refusal");
const findings = await examine(pool);
// A start leaves this out: it says what to look at once.
if (!findings.some(({ refused }) => refused))
  findings.push({ check: "times", warnings: await correctedTimes(pool), refused: null });
const rows = findings.flatMap(({ check, warnings, refused }) =>
  refused
    ? refused.split("\n").map((line) => [check, "refused", line])
    : [[check, "ok", ""], ...warnings.map((warning) => [check, "warning", warning])],
);
console.log(aligned(rows).join("\n"));
process.exit(findings.some(({ refused }) => refused) ? REFUSED : 0);
