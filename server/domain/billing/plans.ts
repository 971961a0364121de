import type { PlanList } from "@/server/contract/billing";

/** What everybody has who runs this product themselves: no limits but those that protect the machine. */
const SELF_HOSTED: PlanList["plans"][number] = {
  planKey: "capstan.self_hosted.v1",
  slug: "self-hosted",
  displayName: "Self-hosted",
  monthlyUsd: 0,
  salesOnly: false,
  tagline: "Everything, on your own machines.",
  limits: {
    users: null,
    projects: null,
    concurrentDurableJobs: 30,
    activeDurableJobs: 10_000,
    lightweightInferencesPerHour: null,
    historyDays: null,
  },
};

/** The plans of this installation, and the one the caller has. */
export function plans(): PlanList {
  return { currentPlan: SELF_HOSTED.planKey, plans: [SELF_HOSTED] };
}
