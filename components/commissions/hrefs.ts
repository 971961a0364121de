import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";
import type { CheckoutReturn } from "./stage";

const LONGEST_ID = 64;

/** The URL of the approval page of a commission quote, with the checkout the reader returns from. */
export function approvalHref(quoteId: string, returned: CheckoutReturn = {}): string {
  return hrefOf(`/approve/capability-quotes/${encodeURIComponent(quoteId)}`, returned);
}

/** Reads the checkout the reader returns from; unknown values are ignored. */
export function readReturned(params: SearchParams): CheckoutReturn {
  const { payment, result } = singleValues(params);
  return {
    payment: payment && payment.length <= LONGEST_ID ? payment : undefined,
    result: result === "success" || result === "canceled" ? result : undefined,
  };
}
