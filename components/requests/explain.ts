import type { CapabilityRequest } from "@/server/contract/requests";

/** An explanation of a state: its meaning, the next step, and whose turn it is: the members', the operator's, or no one's. */
export type StatusExplanation = { text: string; turn: "members" | "operator" | "none" };

const TEXTS: Record<CapabilityRequest["status"], [turn: StatusExplanation["turn"], text: string]> = {
  draft: [
    "members",
    "This draft is not under review yet. A member or an agent submits it when it is complete.",
  ],
  submitted: ["operator", "The request is in the queue until an operator opens it."],
  in_review: [
    "operator",
    "An operator is reviewing the request, and will reply with a quote, a question, or a reason to decline.",
  ],
  needs_information: [
    "members",
    "The operator has a question. Answer it below, or revise the request and submit it again.",
  ],
  quoted: [
    "members",
    "A quote is ready. A member of the organization approves and pays it on the quote's page; an API key cannot.",
  ],
  declined: [
    "none",
    "An operator declined this request permanently. File a new request for a different need.",
  ],
  paid: [
    "operator",
    "The commission is paid and being built. The operator records the capability when it ships.",
  ],
  fulfilled: [
    "none",
    "The capability has shipped and can be run. If it does not do what you requested, ask the operator for a refund before the guarantee ends.",
  ],
  refunded: ["none", "The commission was refunded in full, and the request is closed."],
};

/** Explains a request's state in a sentence. `quoteExpiresAt` is the expiry of its quote, if it has one. */
export function explainStatus(
  { status }: Pick<CapabilityRequest, "status">,
  quoteExpiresAt: string | null,
  nowMs: number,
): StatusExplanation {
  if (status === "quoted" && quoteExpiresAt !== null && Date.parse(quoteExpiresAt) <= nowMs)
    return {
      text: "The quote expired unpaid. An operator can issue a new one for the same revision.",
      turn: "operator",
    };
  const [turn, text] = TEXTS[status];
  return { turn, text };
}

/** Explains a full refund in progress, while the request is still paid or shipped. */
export const explainRefund = (hasFailed: boolean): StatusExplanation =>
  hasFailed
    ? {
        text: "A full refund is due, but it failed at the payment provider. The operator is looking into it.",
        turn: "operator",
      }
    : {
        text: "A full refund is in progress. It can take some days to arrive.",
        turn: "none",
      };

export const TURNS: Record<StatusExplanation["turn"], string> = {
  members: "Your turn",
  operator: "Operator’s turn",
  none: "Nothing to do",
};
