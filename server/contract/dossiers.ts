import { z } from "zod";
import { CommissionPayment } from "./commissions";
import { DateTime } from "./common";
import { CapabilityRequest, CommissionQuote, RequestEvent, RequestRevision } from "./requests";

/** Actions that an operator can take in the request's current state. */
export const OperatorAct = z.enum(["review", "ask", "decline", "quote", "fulfil", "refund"]);
export type OperatorAct = z.output<typeof OperatorAct>;

/** A person's email address or a key's name; otherwise an id. */
const Actor = z.string();

/** Identifies a revision; its content is read separately, by id. */
export const RevisionHead = RequestRevision.omit({ content: true }).extend({ author: Actor });
export type RevisionHead = z.output<typeof RevisionHead>;

/** A payment of a commission, with the reason for its refund and the error if that failed. */
export const DossierPayment = CommissionPayment.extend({
  /** Needed to request a failed refund again. */
  refundId: z.string().nullable(),
  /** Note of the operator who requested the refund. */
  refundNote: z.string().nullable(),
  /** Why the last attempt to refund failed, in the payment provider's words or ours; null if it did not fail. */
  refundError: z.string().nullable(),
});
export type DossierPayment = z.output<typeof DossierPayment>;

/** A quote with all its payments, newest first. */
export const DossierQuote = CommissionQuote.extend({ issuer: Actor, payments: z.array(DossierPayment) });
export type DossierQuote = z.output<typeof DossierQuote>;

/** Everything that an operator needs to decide on a request. */
export const RequestDossier = z.object({
  request: CapabilityRequest,
  organizationName: z.string(),
  projectName: z.string(),
  author: Actor,
  /** Newest first. */
  revisions: z.array(RevisionHead),
  /** Newest first, including ended ones. */
  quotes: z.array(DossierQuote),
  /** Oldest first. */
  events: z.array(RequestEvent),
  acts: z.array(OperatorAct),
  /** A fulfilled request is refunded on demand until then; null if the request is not fulfilled. */
  acceptedUntil: DateTime.nullable(),
});
export type RequestDossier = z.output<typeof RequestDossier>;

export const RevisionRef = z.object({
  requestId: z.string().min(1).max(64),
  revisionId: z.string().min(1).max(64),
});
export type RevisionRef = z.output<typeof RevisionRef>;

/** Requests by state, for the states in which an operator must or may act. */
export const QueueCounts = z.object({
  submitted: z.int(),
  in_review: z.int(),
  quoted: z.int(),
  paid: z.int(),
  /** Requests in any state with a failed refund of their payment. */
  refundFailed: z.int(),
});
export type QueueCounts = z.output<typeof QueueCounts>;
