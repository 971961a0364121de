import { z } from "zod";
import { DateTime } from "./common";
import { JobApproval, JobRights } from "./jobs";
import { CommissionQuote } from "./requests";
import { ofWork } from "./work";

/** Who asked for something: what people call them, where that is known, and what they are. */
export const Asker = z.object({ id: z.string(), kind: z.string(), name: z.string().nullable() });
export type Asker = z.output<typeof Asker>;

/** A job that waits for a person, with what there is to decide on. */
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

/** A commission quote that can be paid now. */
export const WaitingCommission = z.object({
  kind: z.literal("commission"),
  quote: CommissionQuote,
  summary: z.string(),
  askedBy: Asker,
  mayPay: z.boolean(),
});
export type WaitingCommission = z.output<typeof WaitingCommission>;

/** What waits for a person of a project, what is due first first. */
export const Approvals = z.object({
  items: z.array(z.discriminatedUnion("kind", [WaitingJob, WaitingCommission])),
  /** How many wait, also those beyond the list. */
  count: z.int(),
  /** The time here, to count down by. */
  now: DateTime,
});
export type Approvals = z.output<typeof Approvals>;
