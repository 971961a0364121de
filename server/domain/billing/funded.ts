import type { Micros } from "@/server/platform/money";
import { recent } from "@/server/platform/time/recent";
import { fundsOf } from "./wallet";

export type Funds = { allowanceMicros: Micros; walletMicros: Micros };

/**
 * What an organization has left, at most a second old: a hint for choosing a route and for descriptors. What may really
 * be spent is decided by the reservation. Looking takes nothing of the allowance.
 */
export const recentFunds: (organizationId: string, isTest: boolean) => Promise<Funds> = recent(
  (organizationId, isTest) => `${organizationId} ${isTest}`,
  fundsOf,
);

/** Has it anything to pay managed work with? */
export const isFunded = ({ allowanceMicros, walletMicros }: Funds) => allowanceMicros > 0 || walletMicros > 0;
