import type { PlanFeature, PlanLimit } from "@/server/contract/billing";

/** Limits of plans in the words of the panel, in the order they are shown in. */
export const LIMITS: Record<PlanLimit, string> = {
  users: "People, with open invitations",
  projects: "Active projects",
  environments: "Active environments of a project",
  apiKeys: "API keys",
  concurrentDurableJobs: "Jobs running at once",
  activeDurableJobs: "Unfinished jobs",
  lightweightInferencesPerHour: "Synchronous and pinned executions an hour",
  historyDays: "Days of history",
};
export const LIMIT_NAMES = Object.keys(LIMITS) as PlanLimit[]; // the keys of a Record<PlanLimit, …>

export const FEATURES: Record<PlanFeature, string> = {
  cancel: "Cancel jobs",
  approve: "Approve jobs",
  reject: "Reject jobs",
};
export const FEATURE_NAMES = Object.keys(FEATURES) as PlanFeature[]; // likewise

export const shownLimit = (limit: number | null) =>
  limit === null ? "no limit" : limit.toLocaleString("en-US");
