import type { Comparison } from "@/server/contract/comparisons";
import { finish, type Tenant } from "./api";

const TEXT = "text.general.fast.v1";
export const COMPARISONS = `/v1/capabilities/${TEXT}/comparisons`;

/** Competitors by the names of the sandbox's models: `1`, `2`, `refuse`, … */
export const pinned = (...models: string[]) =>
  models.map((model) => ({ axis: "provider" as const, providerPin: `sandbox/sandbox-${model}` }));

/** A comparison of two models of the sandbox, in the key's own project. */
export const COMPARED = {
  context: {},
  competitors: pinned("1", "2"),
  input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
};

/** A comparison whose jobs have all ended. If `isJudged`, its first entry has won. */
export async function compared(tenant: Tenant, isJudged: boolean, body: object = COMPARED) {
  const { json } = await tenant.post(COMPARISONS, body);
  const { comparisonId, entries } = json as Comparison;
  for (const { jobId } of entries) await finish(jobId);
  const winner = { decision: "winner", overallWinnerEntryId: entries[0]?.entryId };
  if (isJudged) await tenant.post(`/v1/comparisons/${comparisonId}/judgements`, winner);
  return { comparisonId, entryIds: entries.map(({ entryId }) => entryId), winner };
}
