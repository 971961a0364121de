import type { Micros } from "@/server/money";
import { fundsOf } from "./wallet";

const MOST_STALE_MS = 1_000;
const MOST_ENTRIES = 10_000;

export type Funds = { allowanceMicros: Micros; walletMicros: Micros };
const known = new Map<string, { funds: Promise<Funds>; readAt: number }>();

/**
 * What an organization has left, at most a second old: a hint for choosing a route and for descriptors. What may really
 * be spent is decided by the reservation. Looking takes nothing of the allowance.
 */
export function recentFunds(
  organizationId: string,
  isTest: boolean,
  nowMs = performance.now(),
): Promise<Funds> {
  const name = `${organizationId} ${isTest}`;
  const entry = known.get(name);
  if (entry && nowMs - entry.readAt < MOST_STALE_MS) return entry.funds;
  if (known.size >= MOST_ENTRIES) known.clear();
  const fresh = { funds: fundsOf(organizationId, isTest), readAt: nowMs };
  known.set(name, fresh);
  fresh.funds.catch(() => {
    if (known.get(name) === fresh) known.delete(name);
  });
  return fresh.funds;
}

/** Has it anything to pay managed work with? */
export const isFunded = ({ allowanceMicros, walletMicros }: Funds) => allowanceMicros > 0 || walletMicros > 0;
