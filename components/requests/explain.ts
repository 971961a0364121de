import type { CapabilityRequest } from "@/server/contract/requests";

/** What a state means, what comes next, and whose turn it is: the members', the operator's, or no one's. */
export type Explanation = { text: string; turn: "members" | "operator" | "none" };

/** Explains a request's state in a sentence. `quoteExpiresAt`: of its quote, if it has one. */
export function explain(
  { status }: Pick<CapabilityRequest, "status">,
  quoteExpiresAt: string | null,
  nowMs: number,
): Explanation {
  switch (status) {
    case "draft":
      return {
        text: "This draft is not under review yet. A member or an agent submits it when it is complete.",
        turn: "members",
      };
    case "submitted":
      return { text: "The request is in the queue until an operator opens it.", turn: "operator" };
    case "in_review":
      return {
        text: "An operator is reviewing the request, and will reply with a quote, a question, or a reason to decline.",
        turn: "operator",
      };
    case "needs_information":
      return {
        text: "The operator has a question. Answer it below, or revise the request and submit it again.",
        turn: "members",
      };
    case "quoted":
      return quoteExpiresAt !== null && Date.parse(quoteExpiresAt) <= nowMs
        ? {
            text: "The quote expired unpaid. An operator can issue a new one for the same revision.",
            turn: "operator",
          }
        : {
            text: "A quote is ready. A member of the organization approves and pays it on the quote's page; an API key cannot.",
            turn: "members",
          };
    case "declined":
      return {
        text: "An operator declined this request permanently. File a new request for a different need.",
        turn: "none",
      };
    case "paid":
      return {
        text: "The commission is paid and being built. The operator records the capability when it ships.",
        turn: "operator",
      };
    case "fulfilled":
      return {
        text: "The capability has shipped and can be run. If it does not do what you requested, ask the operator for a refund before the guarantee ends.",
        turn: "none",
      };
    case "refunded":
      return { text: "The commission was refunded in full, and the request is closed.", turn: "none" };
  }
}

/** Explains a full refund in progress, while the request is still paid or shipped. */
export const explainRefund = (hasFailed: boolean): Explanation =>
  hasFailed
    ? {
        text: "A full refund is due, but it failed at the payment provider. The operator is looking into it.",
        turn: "operator",
      }
    : {
        text: "A full refund is in progress. It can take some days to arrive.",
        turn: "none",
      };

export const TURNS: Record<Explanation["turn"], string> = {
  members: "Your turn",
  operator: "Operator’s turn",
  none: "Nothing to do",
};
