import type { PlanFeature, PlanLimit } from "@/server/contract/billing";
import { ownKeys } from "@/server/contract/own-keys";

/** The panel's names for plan limits, in display order. */
export const LIMIT_LABELS: Record<PlanLimit, string> = {
  users: "People and pending invitations",
  projects: "Active projects",
  environments: "Active environments per project",
  apiKeys: "API keys",
  concurrentDurableJobs: "Concurrent jobs",
  activeDurableJobs: "Unfinished jobs",
  lightweightInferencesPerHour: "Synchronous and pinned executions per hour",
  historyDays: "Days of history",
};
/** Short names for column headers. */
export const SHORT_LIMIT_LABELS: Record<PlanLimit, string> = {
  users: "People",
  projects: "Projects",
  environments: "Environments",
  apiKeys: "Keys",
  concurrentDurableJobs: "At once",
  activeDurableJobs: "Unfinished",
  lightweightInferencesPerHour: "Per hour",
  historyDays: "Days kept",
};
export const LIMIT_NAMES = ownKeys(LIMIT_LABELS);

export const FEATURE_LABELS: Record<PlanFeature, string> = {
  cancel: "Cancel jobs",
  approve: "Approve jobs",
  reject: "Reject jobs",
};
export const FEATURE_NAMES = ownKeys(FEATURE_LABELS);

export const shownLimit = (limit: number | null) =>
  limit === null ? "no limit" : limit.toLocaleString("en-US");
