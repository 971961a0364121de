import { z } from "zod";
import { hrefOf, type Place, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";

const id = z.string().min(1).max(64).optional().catch(undefined);

/** The URL state of the billing page: the organization, the page of transactions, and the checkout the reader returns from. */
const BillingState = z.object({
  organizationId: id,
  ...placeFields(/^[1-9]\d{0,17}$/),
  /** The payment of that checkout, and how the checkout was left. */
  payment: id,
  result: z.enum(["success", "canceled"]).optional().catch(undefined),
});
export type BillingState = z.output<typeof BillingState>;

/** Reads the state from search parameters. Unknown values are ignored. */
export const readBillingState = (params: SearchParams): BillingState =>
  BillingState.parse(singleValues(params));

export const billingHref = (state: BillingState): string => hrefOf("/billing", state);

const PAGE_SIZE = 25;

/** The billing router's input for a page of transactions. */
export const transactionsQuery = (organizationId: string, { cursor }: Place) => ({
  organizationId,
  limit: PAGE_SIZE,
  cursor,
});
