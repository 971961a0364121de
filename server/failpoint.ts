import { env, isProduction } from "@/server/env";

/**
 * Named places where a crash would hurt most. `CAPSTAN_FAILPOINTS="after-claim:0.2"` kills this process with SIGKILL
 * at that place in a fifth of the passes; outside production only. The durability proofs use them.
 */
const armed = new Map<string, number>(
  isProduction || !env.CAPSTAN_FAILPOINTS
    ? []
    : env.CAPSTAN_FAILPOINTS.split(",").map((entry) => {
        const [name = "", chance = "1"] = entry.split(":");
        return [name, Number(chance)];
      }),
);

export type FailpointName =
  | "after-admission"
  | "after-claim"
  | "after-submission-begun"
  | "after-answer"
  | "before-receipt";

export function failpoint(name: FailpointName): void {
  const chance = armed.get(name);
  if (chance !== undefined && Math.random() < chance) process.kill(process.pid, "SIGKILL");
}
