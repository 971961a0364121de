import type pg from "pg";
import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { Ctx } from "@/server/domain/ctx";
import type { Estimate, ExecutionPlan } from "@/server/domain/quotes";
import { inTransaction } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import { failpoint } from "@/server/platform/settings/failpoint";
import { contentOf } from "@/server/platform/text/canonical";
import { awaitingApprovalEvent } from "../decisions/approvals";
import { type Admission, insertTogether } from "../transitions/admission";
import { refuseOverload } from "./admit";
import { wakeAdmitted } from "./dispatch";
import { keepSources, planSubmission, prepare } from "./prepare";
import { type CanonicalRequest, read } from "./submission";

/** One request per competitor in the caller's order, and the error to throw if one is refused. */
type Requests = {
  requests: RawEnvelope[];
  /** `place` is the index in `requests`. */
  refusal: (place: number, cause: unknown) => unknown;
};
export type Together = Requests & {
  comparisonId: string;
  /** Indexes into `requests`, in the order in which the job ids are made. */
  order: number[];
  /**
   * Writes the rows that group the jobs, before them in the same transaction. A throw rolls everything back.
   */
  attach: (client: pg.PoolClient, jobs: AdmittedTogether[]) => Promise<void>;
};
export type AdmittedTogether = {
  /** Index in `requests`. */
  place: number;
  jobId: string;
  createdAt: Date;
  estimatedMicros: Micros;
  maximumMicros: Micros;
};

/**
 * Admits the competitors of a comparison with their holds, either all or none. Their wakes leave after the
 * commit, and the sweeper sends lost ones again. `attach` and the result list the jobs in `order`.
 */
export async function submitTogether(
  ctx: Ctx,
  capability: Capability,
  { comparisonId, requests, order, refusal, attach }: Together,
): Promise<AdmittedTogether[]> {
  // All jobs share one moment and their ids are made together, so that nothing shows how long each took to
  // plan.
  const moment = ctx.now();
  const at: Ctx = { ...ctx, now: () => moment };
  const prepared = await planned({ requests, refusal }, async (raw) => {
    const submission = await read(at, { kind: "jobs", capability, raw });
    const made = await prepare(at, submission);
    await keepSources(submission, made, moment);
    return { submission, ...made };
  });
  for (const { admission } of prepared) await refuseOverload(admission.project_id, moment.getTime());
  const ids = order.map(() => newId("job"));
  const admissions = waitTogether(
    order.map((place, position) => {
      const { admission } = prepared[place]!; // `order` holds indexes of `requests`
      return { ...admission, id: ids[position]!, payload_id: newId("payload") };
    }),
  );
  const jobs = admissions.map((each, position) => ({
    place: order[position]!, // `order` has one entry per admission
    jobId: each.id,
    createdAt: moment,
    estimatedMicros: each.estimated_micros,
    maximumMicros: each.maximum_micros,
  }));
  await inTransaction(async (client) => {
    await attach(client, jobs);
    await insertTogether(client, comparisonId, admissions);
  });
  failpoint("after-admission");
  await wakeAdmitted(admissions);
  return jobs;
}

/** The price of each request, by the plan that its submission would have. Writes nothing. */
export async function estimateTogether(
  ctx: Ctx,
  capability: Capability,
  requests: Requests,
): Promise<Estimate[]> {
  const found = await planned(requests, async (raw) => {
    const submission = await read(ctx, { kind: "jobs", capability, raw });
    return { submission, plan: await planSubmission(ctx, submission) };
  });
  return found.map(({ plan }) => plan.estimate);
}

/**
 * Plans each request in turn. Refuses a request for the same work by the same model as an earlier one,
 * because there would be nothing to compare.
 */
async function planned<T extends { submission: CanonicalRequest; plan: ExecutionPlan }>(
  { requests, refusal }: Requests,
  plan: (raw: RawEnvelope) => Promise<T>,
): Promise<T[]> {
  const all: T[] = [];
  const places = new Map<string, number>();
  for (const [place, raw] of requests.entries()) {
    try {
      const found = await plan(raw);
      const work = await workOf(found);
      const same = places.get(work);
      if (same !== undefined) {
        const msg = `This is the same request to the same model as competitor ${same}. Change one of them.`;
        throw new ValidationFault([{ loc: ["body"], msg, type: "value_error" }]);
      }
      places.set(work, place);
      all.push(found);
    } catch (cause) {
      throw refusal(place, cause);
    }
  }
  return all;
}

/**
 * Hashes the work with its route, account, sampling and adapters. Two requests with the same hash would give
 * nothing to compare.
 */
async function workOf({
  submission,
  plan,
}: {
  submission: CanonicalRequest;
  plan: ExecutionPlan;
}): Promise<string> {
  const { sampling } = submission.envelope;
  const { route, account, adapters } = plan.estimate;
  // An adapter is the same whether it is named by alias, by id or by default.
  const { adapters: _asNamed, ...input } = plan.input as { adapters?: unknown }; // every input is an object
  const used = adapters?.used.map(({ adapterId, weight }) => ({ adapterId, weight }));
  const asked = JSON.parse(JSON.stringify({ route, account, sampling, used })); // a route has functions, which are not compared
  return (await contentOf({ ...asked, input })).sha256;
}

/**
 * If one competitor must wait for approval, all do, each with the highest figures: a wait must not
 * distinguish them.
 */
function waitTogether(admissions: Admission[]): Admission[] {
  const dearest = admissions
    .filter(({ approval }) => approval !== null)
    .toSorted((one, other) => other.maximum_micros - one.maximum_micros)[0];
  if (!dearest?.approval || !dearest.approval_deadline_at) return admissions;
  const { approval, approval_deadline_at } = dearest;
  const most = {
    ...approval,
    maximumMicros: Math.max(...admissions.map(({ maximum_micros }) => maximum_micros)),
    estimatedMicros: Math.max(...admissions.map(({ estimated_micros }) => estimated_micros)),
  };
  const waitEvent = awaitingApprovalEvent(most, approval_deadline_at);
  return admissions.map((each) => {
    const events = [waitEvent];
    return {
      ...each,
      status: "awaiting_approval",
      dispatch_state: "none",
      approval: most,
      approval_deadline_at,
      events,
      last_event: events.length,
    };
  });
}
