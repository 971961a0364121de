import { requireRoom, type Settings } from "@/server/domain/plans";
import type { Tx } from "@/server/platform/db";
import { lockOrganization } from "./lock";

/** Refuses one more person where the plan has no seat left. An address that has a seat takes none more. */
export function requireSeat(settings: Settings, seated: readonly string[], email: string): void {
  requireRoom(settings, "users", new Set([...seated, email]).size);
}

/** The same, under the organization's lock: many at once take no seat twice. */
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
