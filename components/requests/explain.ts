import type { CapabilityRequest } from "@/server/contract/requests";

/** What a state means and what comes next, and who has to do it: the reader's side, the operator, or nobody. */
export type Explanation = { text: string; turn: "members" | "operator" | "nobody" };

/** Explains where a request stands, in a sentence. `quoteExpiresAt`: of the quote it has, where it has one. */
export function explain(
  { status }: Pick<CapabilityRequest, "status">,
  quoteExpiresAt: string | null,
  nowMs: number,
): Explanation {
  switch (status) {
    case "draft":
      return {
        text: "Nobody reads it yet: a member or an agent submits the wording when it is complete.",
        turn: "members",
      };
    case "submitted":
      return { text: "It waits in the queue until an operator opens it.", turn: "operator" };
    case "in_review":
      return {
        text: "An operator is reading it, and answers with a price, a question, or why it cannot be built.",
        turn: "operator",
      };
    case "needs_information":
      return {
        text: "The operator asked for more: a member or an agent revises the wording and submits it again.",
        turn: "members",
      };
    case "quoted":
      return quoteExpiresAt !== null && Date.parse(quoteExpiresAt) <= nowMs
        ? {
            text: "Its quote has expired unpaid: an operator can issue a new one for the same wording.",
            turn: "operator",
          }
        : {
            text: "It has a price: a member of the organization decides on the approval page and pays. No key can.",
            turn: "members",
          };
    case "declined":
      return {
        text: "An operator declined it for good; a different need is filed as a new request.",
        turn: "nobody",
      };
    case "paid":
      return {
        text: "It is paid and being built: the operator records its key when it ships.",
        turn: "operator",
      };
    case "fulfilled":
      return {
        text: "It has shipped and can be run; until the guarantee ends, ask the operator for your money back if it does not do what was asked.",
        turn: "nobody",
      };
    case "refunded":
      return { text: "The commission was given back in full, and the request is closed.", turn: "nobody" };
  }
}

/** Where a commission stands that is still paid or shipped while its whole amount goes back. */
export const explainRefund = (hasFailed: boolean): Explanation =>
  hasFailed
    ? {
        text: "The whole amount goes back: the payment provider could not do so until now, and the operator looks into it.",
        turn: "operator",
      }
    : {
        text: "The whole amount goes back: the payment provider was asked, and it can take some days to arrive.",
        turn: "nobody",
      };

export const TURNS: Record<Explanation["turn"], string> = {
  members: "Your turn",
  operator: "The operator’s turn",
  nobody: "Nothing to do",
};
