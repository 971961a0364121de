import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";
import type { Returned } from "./stage";

const LONGEST_ID = 64;

/** The page where a commission quote is approved, and from which checkout one comes back to it. */
export function approvalHref(quoteId: string, returned: Returned = {}): string {
  return hrefOf(`/approve/capability-quotes/${encodeURIComponent(quoteId)}`, returned);
}

/** Reads from which checkout the reader comes back; words we do not know count as absent. */
export function readReturned(params: SearchParams): Returned {
  const { payment, result } = singleValues(params);
  return {
    payment: payment && payment.length <= LONGEST_ID ? payment : undefined,
    result: result === "success" || result === "canceled" ? result : undefined,
  };
}
