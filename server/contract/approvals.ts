import { z } from "zod";
import { DateTime } from "./common";
import { JobApproval, JobRights } from "./jobs";
import { CommissionQuote } from "./requests";
import { ofWork } from "./work";

/** The key, person or session that made a request. `name` is null if it is unknown. */
export const Asker = z.object({ id: z.string(), kind: z.string(), name: z.string().nullable() });
export type Asker = z.output<typeof Asker>;

/** A job that waits for approval, with the facts needed to decide. */
export const WaitingJob = z.object({
  kind: z.literal("job"),
  jobId: z.string(),
  capabilityKey: z.string(),
  askedBy: Asker,
  approval: JobApproval,
  rights: JobRights.pick({ approve: true, reject: true, whyNotDecide: true }),
  ...ofWork,
});
export type WaitingJob = z.output<typeof WaitingJob>;

export const WaitingCommission = z.object({
  kind: z.literal("commission"),
  quote: CommissionQuote,
  summary: z.string(),
  askedBy: Asker,
  mayPay: z.boolean(),
});
export type WaitingCommission = z.output<typeof WaitingCommission>;

/** Pending approvals of a project, earliest deadline first. */
export const Approvals = z.object({
  items: z.array(z.discriminatedUnion("kind", [WaitingJob, WaitingCommission])),
  /** All pending approvals, including those that the list leaves out. */
  count: z.int(),
  /** The server's time, for countdowns. */
  now: DateTime,
});
export type Approvals = z.output<typeof Approvals>;
