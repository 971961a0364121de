import { listState, matchingParam, oneOf, textParam } from "@/components/blocks/list/list-state";
import { hrefOf, type PagePosition } from "@/components/ui/paging";

/** The URL state of the billing page: the organization, the page of transactions, and the checkout the reader returns from. */
export const { read: readBillingState } = listState(
  {
    organizationId: textParam(64),
    /** The payment of that checkout, and whether it succeeded or was canceled. */
    payment: textParam(64),
    result: oneOf(["success", "canceled"]),
  },
  matchingParam(/^[1-9]\d{0,17}$/),
);
export type BillingState = ReturnType<typeof readBillingState>;

export const billingHref = (state: BillingState): string => hrefOf("/billing", state);

const PAGE_SIZE = 25;

/** The billing router's input for a page of transactions. */
export const transactionsQuery = (organizationId: string, { cursor }: PagePosition, isTest: boolean) => ({
  organizationId,
  limit: PAGE_SIZE,
  cursor,
  test: isTest,
});

/** Sorts lines by the date that they show; the server returns them in the order in which they were written. */
export const newestFirst = <Line>(lines: readonly Line[], at: (line: Line) => string): Line[] =>
  lines.toSorted((one, other) => at(other).localeCompare(at(one)));
