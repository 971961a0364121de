import { requireRoom, type Settings } from "@/server/domain/plans";
import type { Tx } from "@/server/platform/db";
import { lockOrganization } from "./lock";

/**
 * Refuses one more person if the plan has no seat left. An address that already has a seat takes no other.
 */
export function requireSeat(settings: Settings, seated: readonly string[], email: string): void {
  requireRoom(settings, "users", new Set([...seated, email]).size);
}

/**
 * Applies `requireSeat` under the organization's lock, so that concurrent calls cannot take the same seat.
 */
export async function takeSeat(tx: Tx, organizationId: string, email: string, now: Date): Promise<void> {
  const { settings } = await lockOrganization(tx, organizationId);
  const seated = await tx.$queryRaw<{ email: string }[]>`
    SELECT email FROM capstan_seats(${organizationId}, ${now}) AS email`;
  requireSeat(
    settings,
    seated.map((each) => each.email),
    email,
  );
}
