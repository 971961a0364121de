import { z } from "zod";
import { hrefOf, type Place, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";

const id = z.string().min(1).max(64).optional().catch(undefined);

/** What the address of the billing page says: whose money, which page of the log, and from which checkout one came. */
const BillingState = z.object({
  organizationId: id,
  ...placeFields(/^[1-9]\d{0,17}$/),
  /** The payment a checkout was opened for, and how it was left. */
  payment: id,
  result: z.enum(["success", "canceled"]).optional().catch(undefined),
});
export type BillingState = z.output<typeof BillingState>;

/** Reads the state from search parameters. A word we do not know counts as absent. */
export const readBillingState = (params: SearchParams): BillingState =>
  BillingState.parse(singleValues(params));

export const billingHref = (state: BillingState): string => hrefOf("/billing", state);

const PAGE_SIZE = 25;

/** The query of a place in the log, as the billing router takes it. */
export const transactionsQuery = (organizationId: string, { cursor }: Place) => ({
  organizationId,
  limit: PAGE_SIZE,
  cursor,
});
