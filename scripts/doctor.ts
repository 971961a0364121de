import { existsSync } from "node:fs";
import { findDatabase } from "./find-database";
import { aligned } from "./launch/table";

/*
 * `npm run doctor`: the checks of a start, and things that earlier versions accepted and should be replaced, as a table. Exit
 * code 2 if a process would refuse to start.
 */
if (existsSync(".env")) process.loadEnvFile(".env");
findDatabase();
process.env.LOG_LEVEL ??= "error";
// Imported late, because these modules read the settings.
const { pool } = await import("@/server/platform/db");
const { examine } = await import("@/server/start-up");
const { correctedTimes } = await import("@/server/corrected-times");
const { weakEndpoints } = await import("@/server/domain/webhooks");
const { REFUSED } = await import("@/server/platform/settings/refusal");
const findings = await examine(pool);
// A start skips these checks, because they look at data that only an operator can correct.
if (!findings.some(({ refused }) => refused)) {
  const weak = (await weakEndpoints()).map(
    ({ endpointId, organizationId }) =>
      `${endpointId} (${organizationId}): receivers may be unable to verify its secret, or others may guess it. Its owner replaces it in the panel under Webhooks, or with PATCH /v1/delivery-endpoints/${endpointId}.`,
  );
  findings.push(
    { check: "times", warnings: await correctedTimes(pool), refused: null },
    { check: "webhook secrets", warnings: weak, refused: null },
  );
}
const rows = findings.flatMap(({ check, warnings, refused }) =>
  refused
    ? refused.split("\n").map((line) => [check, "refused", line])
    : [[check, "ok", ""], ...warnings.map((warning) => [check, "warning", warning])],
);
console.log(aligned(rows).join("\n"));
process.exit(findings.some(({ refused }) => refused) ? REFUSED : 0);
