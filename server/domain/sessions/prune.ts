import { pool } from "@/server/platform/db";

/** Deletes what no one can use any more: sessions that ended a month ago, and logins of devices of yesterday. */
export async function pruneSessions(now: Date): Promise<void> {
  await pool.query(
    "DELETE FROM session WHERE least(revoked_at, expires_at) < $1::timestamptz - interval '720 hours'",
    [now],
  );
  await pool.query("DELETE FROM device_login WHERE expires_at < $1::timestamptz - interval '24 hours'", [
    now,
  ]);
}
