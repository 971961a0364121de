import { requireRoom, type Settings } from "@/server/domain/plans";
import type { Transaction } from "@/server/platform/db";
import { maybe, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { lockOrganization } from "./lock";

/**
 * Refuses one more person if the plan has no seat left. An address that already has a seat takes no other.
 */
export function requireSeat(settings: Settings, seated: readonly string[], email: string): void {
  requireRoom(settings, "users", new Set([...seated, email]).size);
}

const readSeats = statement("seat.list", {
  params: { organizationId: text, now: timestamptz },
  row: { email: present(maybe(text), "the function lists addresses") },
  sql: "SELECT email FROM capstan_seats($organizationId, $now) AS email",
});

/**
 * Applies `requireSeat` under the organization's lock, so that concurrent calls cannot take the same seat.
 */
export async function takeSeat(
  client: Transaction,
  organizationId: string,
  email: string,
  now: Date,
): Promise<void> {
  const { settings } = await lockOrganization(client, organizationId);
  const seated = await readSeats.all(client, { organizationId, now });
  requireSeat(
    settings,
    seated.map((each) => each.email),
    email,
  );
}
