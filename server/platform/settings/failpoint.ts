import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { env, isProduction } from "@/server/platform/settings/env";

/**
 * Named places where a crash would hurt most. `CAPSTAN_FAILPOINTS="after-claim:0.2"` kills this process with SIGKILL
 * at that place in a fifth of the passes, after a line in `<data>/failpoints.log`; outside production only.
 */
const armed = new Map<string, number>(
  isProduction || !env.CAPSTAN_FAILPOINTS
    ? []
    : env.CAPSTAN_FAILPOINTS.split(",").map((entry) => {
        const [name = "", chance = "1"] = entry.split(":");
        return [name, Number(chance)];
      }),
);

export const FAILPOINTS = [
  "after-admission",
  "after-claim",
  "after-submission-begun",
  "before-repair",
  "after-tier-refusal",
  "after-answer",
  "after-stage-kept",
  "after-attempt-opened",
  "before-receipt",
  "before-refund-asked",
  "after-refund-asked",
  "after-mail",
  "after-bytes-came",
  "after-bytes-kept",
] as const;
export type FailpointName = (typeof FAILPOINTS)[number];

export function failpoint(name: FailpointName): void {
  const chance = armed.get(name);
  if (chance === undefined || Math.random() >= chance) return;
  appendFileSync(join(env.CAPSTAN_DATA_DIR, "failpoints.log"), `${process.pid} ${name}\n`);
  process.kill(process.pid, "SIGKILL");
}
