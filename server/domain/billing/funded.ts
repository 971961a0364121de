import type { Micros } from "@/server/platform/money";
import { recent } from "@/server/platform/time/recent";
import { fundsOf } from "./wallet";

export type Funds = { allowanceMicros: Micros; walletMicros: Micros };

/**
 * Remaining funds of an organization, at most one second old: a hint for routes and descriptors. The
 * reservation decides what can be spent, and reading reserves nothing.
 */
export const recentFunds: (organizationId: string, isTest: boolean) => Promise<Funds> = recent(
  (organizationId, isTest) => `${organizationId} ${isTest}`,
  fundsOf,
);

/** True if any funds for managed work are left. */
export const isFunded = ({ allowanceMicros, walletMicros }: Funds) => allowanceMicros > 0 || walletMicros > 0;
