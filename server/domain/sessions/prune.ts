import { pool } from "@/server/platform/db";
import { timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const deleteEndedSessions = statement("session.delete.ended", {
  params: { now: timestamptz },
  sql: `DELETE FROM session WHERE least(revoked_at, expires_at) < $now::timestamptz - interval '720 hours'`,
});

const deleteDeviceLogins = statement("device_login.delete.expired", {
  params: { now: timestamptz },
  sql: `DELETE FROM device_login WHERE expires_at < $now::timestamptz - interval '24 hours'`,
});

/** Deletes sessions that ended more than 30 days ago, and sign-ins of devices that expired more than a day ago. */
export async function pruneSessions(now: Date): Promise<void> {
  await deleteEndedSessions.run(pool, { now });
  await deleteDeviceLogins.run(pool, { now });
}
