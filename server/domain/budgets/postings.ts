import type { Micros } from "@/server/platform/money";

/** One entry of a ledger transaction. */
export type Posting = { account: string; amount_micros: Micros; kind: string };

/**
 * Returns the ledger entries of a settled hold, which sum to zero. An amount above the hold is owed by a
 * customer who uses their own provider account (`overrun`), and borne by the operator otherwise (`excess`).
 */
export function postingsOf(settled: {
  /** The account to charge. */
  payer: string;
  billingMode: string;
  heldMicros: Micros;
  upstream: [provider: string, micros: Micros][];
  feeMicros: Micros;
}): Posting[] {
  const { payer, billingMode, heldMicros, upstream, feeMicros } = settled;
  const whole = upstream.reduce((sum, [, micros]) => sum + micros, feeMicros);
  const charged = Math.min(whole, heldMicros);
  const above =
    billingMode === "managed"
      ? { account: OPERATOR_ACCOUNT, kind: "excess" }
      : { account: payer, kind: "overrun" };
  return [
    { account: payer, amount_micros: -charged, kind: "charge" },
    { ...above, amount_micros: charged - whole },
    ...upstream.map(([provider, amount_micros]) => ({
      account: `provider:${provider}`,
      amount_micros,
      kind: "upstream",
    })),
    { account: "service_fee", amount_micros: feeMicros, kind: "fee" },
  ].filter(({ amount_micros }) => amount_micros !== 0);
}

const OPERATOR_ACCOUNT = "operator";

/** Entries for provider work that the operator may be charged for although no customer pays. */
export function exposureOf(route: string, micros: Micros): Posting[] {
  if (micros === 0) return [];
  return [
    { account: OPERATOR_ACCOUNT, amount_micros: -micros, kind: "exposure" },
    { account: `exposure:${route}`, amount_micros: micros, kind: "exposure" },
  ];
}
