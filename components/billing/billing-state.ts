/** What the address of the billing page says: whose money, which page of the log, and from which checkout one came. */
export type BillingState = {
  organizationId?: string | undefined;
  cursor?: string | undefined;
  /** The payment a checkout was opened for, and how it was left. */
  payment?: string | undefined;
  result?: "success" | "canceled" | undefined;
};

type Params = Record<string, string | string[] | undefined>;

export function readBillingState(params: Params): BillingState {
  const one = (name: string) => {
    const value = params[name];
    const text = Array.isArray(value) ? value[0] : value;
    return text && text.length <= 64 ? text : undefined;
  };
  const cursor = one("cursor");
  const result = one("result");
  return {
    organizationId: one("organizationId"),
    cursor: cursor && /^[1-9]\d{0,17}$/.test(cursor) ? cursor : undefined,
    payment: one("payment"),
    result: result === "success" || result === "canceled" ? result : undefined,
  };
}

export function billingHref(state: BillingState): string {
  const entries = Object.entries(state).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(entries).toString();
  return `/billing${search && `?${search}`}`;
}

export const PAGE = 25;
export const transactionsQuery = (organizationId: string, cursor: string | undefined) => ({
  organizationId,
  limit: PAGE,
  ...(cursor ? { cursor } : {}),
});
