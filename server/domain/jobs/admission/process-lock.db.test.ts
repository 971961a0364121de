import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { holdProcessLock, processLock } from "./process-lock";

const holders = async (number: number | null) =>
  (
    await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database
         WHERE datname = current_database()) AND (classid::bigint << 32 | objid::bigint) = $1`,
      [number],
    )
  ).rows;

test("a process takes its lock again after a lost connection, reports it only while held, and releases it at its end", async () => {
  expect(processLock()).toBeNull();
  const lock = await holdProcessLock();
  const number = processLock();
  const [holder] = await holders(number);
  expect(holder).toBeDefined();
  await pool.query("SELECT pg_terminate_backend($1)", [holder?.pid]);
  await expect.poll(processLock).toBeNull();
  await expect.poll(processLock, { timeout: 5_000 }).toBe(number);
  expect(await holders(number)).not.toEqual([holder]);
  await lock.stop();
  expect(processLock()).toBeNull();
  await expect.poll(() => holders(number)).toEqual([]);
});
