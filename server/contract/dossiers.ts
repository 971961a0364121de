import { z } from "zod";
import { CommissionPayment } from "./commissions";
import { DateTime } from "./common";
import { CapabilityRequest, CommissionQuote, RequestEvent, RequestRevision } from "./requests";

/** What an operator can do with a request as it is. */
export const OperatorAct = z.enum(["review", "ask", "decline", "quote", "fulfil", "refund"]);
export type OperatorAct = z.output<typeof OperatorAct>;

/** Who did something: the email of a person, the name of a key; else an id. */
const Actor = z.string();

/** What tells a wording from the others; the wording itself is read by its id. */
export const RevisionHead = RequestRevision.omit({ content: true }).extend({ author: Actor });
export type RevisionHead = z.output<typeof RevisionHead>;

/** A payment of a commission, with why it goes back and why it would not. */
export const DossierPayment = CommissionPayment.extend({
  /** By which it is asked for again once it has failed. */
  refundId: z.string().nullable(),
  /** What the operator wrote who asked for the refund. */
  refundNote: z.string().nullable(),
  /** What the provider said who did not give it back. */
  refundError: z.string().nullable(),
});
export type DossierPayment = z.output<typeof DossierPayment>;

/** A quote with everything that was paid for it, newest first. */
export const DossierQuote = CommissionQuote.extend({ issuer: Actor, payments: z.array(DossierPayment) });
export type DossierQuote = z.output<typeof DossierQuote>;

/** Everything an operator decides a request by. */
export const RequestDossier = z.object({
  request: CapabilityRequest,
  organizationName: z.string(),
  projectName: z.string(),
  author: Actor,
  /** Newest first. */
  revisions: z.array(RevisionHead),
  /** Newest first, those that have ended too. */
  quotes: z.array(DossierQuote),
  /** Oldest first. */
  events: z.array(RequestEvent),
  acts: z.array(OperatorAct),
  /** Until then what was fulfilled is refunded when asked; null: it has not been fulfilled. */
  acceptedUntil: DateTime.nullable(),
});
export type RequestDossier = z.output<typeof RequestDossier>;

export const RevisionRef = z.object({
  requestId: z.string().min(1).max(64),
  revisionId: z.string().min(1).max(64),
});
export type RevisionRef = z.output<typeof RevisionRef>;

/** How many requests wait in each state in which an operator has to do something, or may have to. */
export const QueueCounts = z.object({
  submitted: z.int(),
  in_review: z.int(),
  quoted: z.int(),
  paid: z.int(),
  /** In any state: a refund of what was paid for them failed. */
  refundFailed: z.int(),
});
export type QueueCounts = z.output<typeof QueueCounts>;
