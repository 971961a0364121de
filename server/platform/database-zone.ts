import type { ClientBase } from "pg";
import { Refusal } from "@/server/platform/settings/refusal";

/** Names of time zones that are UTC; `Etc/` may come first. */
const UTC = /^(Etc\/)?(UTC|UCT|Universal|Zulu|GMT|Greenwich)$/i;

/**
 * Throws a Refusal with the statement to run if times on this connection are not in UTC. Prisma's adapter writes and reads a time
 * without its offset, so in another zone a key would end hours too late or too early.
 */
export async function requireUtc(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ zone: string; role: string; database: string }>(
    `SELECT current_setting('TimeZone') AS zone, quote_ident(current_user) AS role,
       quote_ident(current_database()) AS database`,
  );
  const { zone, role, database } = rows[0]!; // a SELECT without FROM has one row
  if (UTC.test(zone)) return;
  const refusal = new Refusal(
    `DATABASE_URL: times on this connection are in the zone ${zone} instead of UTC. A pooler such as PgBouncer keeps the former zone until its RECONNECT. Apply the migrations of this version, or run: ALTER ROLE ${role} IN DATABASE ${database} SET TimeZone = 'UTC';`,
  );
  // PostgreSQL's code of a rejected connection, so that a running process answers as in an outage.
  throw Object.assign(refusal, { code: "08004" });
}
