import type pg from "pg";
import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import { inTransaction } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import type { Micros } from "@/server/money";
import type { Json } from "@/server/step";
import { prepare, read, refuseOverload } from "./admit";
import { toldOfWait } from "./approvals";
import { wake } from "./dispatch";
import type { StoredApproval } from "./rows";
import { type Admission, insertTogether } from "./transitions";

export type Together = {
  comparisonId: string;
  /** One request for each job, in the order in which their ids are to be made; each with an idempotency key of its own. */
  requests: RawEnvelope[];
  /** What a refusal of one of them becomes: the place is the one in `requests`. */
  refusal: (place: number, cause: unknown) => unknown;
  /** Writes what holds them together, before them in the same transaction. Throws what takes everything back. */
  attach: (client: pg.PoolClient, jobs: AdmittedTogether[]) => Promise<void>;
};
export type AdmittedTogether = {
  jobId: string;
  projectId: string;
  organizationId: string;
  environment: string;
  provider: string;
  model: string;
  estimatedMicros: Micros;
  maximumMicros: Micros;
};

/**
 * Admits the competitors of a comparison: all of them, blind, with their holds, or none. Their wakes leave once they are
 * committed; a wake that is lost is sent by the sweeper as always.
 */
export async function submitTogether(
  ctx: Ctx,
  capability: Capability,
  { comparisonId, requests, refusal, attach }: Together,
): Promise<AdmittedTogether[]> {
  const prepared: Admission[] = [];
  for (const [place, raw] of requests.entries()) {
    try {
      const { admission } = await prepare(ctx, await read(ctx, "jobs", capability, raw, undefined));
      await refuseOverload(admission.project_id, ctx.now().getTime());
      prepared.push(admission);
    } catch (cause) {
      throw refusal(place, cause);
    }
  }
  const admissions = waitTogether(prepared);
  const jobs = admissions.map((each) => ({
    jobId: each.id,
    projectId: each.project_id,
    organizationId: each.organization_id,
    environment: each.environment,
    provider: each.provider,
    model: each.model,
    estimatedMicros: each.estimated_micros,
    maximumMicros: each.maximum_micros,
  }));
  await inTransaction(async (client) => {
    await attach(client, jobs);
    await insertTogether(client, comparisonId, admissions);
  });
  for (const each of admissions) {
    if (each.dispatch_state === "pending")
      wake({ id: each.id, projectId: each.project_id, dispatchNumber: 1 });
  }
  return jobs;
}

/** Where one has to wait for approval all do, each with the figures of the dearest: a wait must not tell them apart. */
function waitTogether(admissions: Admission[]): Admission[] {
  const dearest = admissions
    .filter(({ approval }) => approval !== null)
    .toSorted((one, other) => other.maximum_micros - one.maximum_micros)[0];
  if (!dearest?.approval_deadline_at) return admissions;
  const { approval, approval_deadline_at } = dearest;
  const most = {
    ...(approval as unknown as StoredApproval), // written from this very type
    maximumMicros: Math.max(...admissions.map(({ maximum_micros }) => maximum_micros)),
    estimatedMicros: Math.max(...admissions.map(({ estimated_micros }) => estimated_micros)),
  };
  const told = toldOfWait(most, approval_deadline_at);
  return admissions.map((each) => {
    const events = [told, ...each.events.filter(({ type }) => type === "job.budget_warning")];
    return {
      ...each,
      status: "awaiting_approval",
      dispatch_state: "none",
      approval: most as unknown as Json, // plain data
      approval_deadline_at,
      events,
      last_event: events.length,
    };
  });
}
