import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";
import { countEnd } from "@/server/platform/log/metrics";
import { failpoint } from "@/server/platform/settings/failpoint";
import { type Clock, sleep } from "./clock";

/** Ends an execution exactly once, with its record. Null if another end came first or the lease was lost. */
export async function finishOnce<Record>(end: {
  /** The label under which metrics count this end. */
  mode: string;
  status: string;
  code: string | null;
  /** Makes its receipt or record. */
  seal(): Promise<Record>;
  /**
   * Writes the whole end in one statement. False if another end came first or the lease was lost; then
   * nothing was written.
   */
  write(record: Record): Promise<boolean>;
  /** Stores what this process learned even though another end came first. */
  tooLate(): Promise<void>;
}): Promise<Record | null> {
  const record = await end.seal();
  failpoint("before-receipt");
  if (await end.write(record)) {
    countEnd(end.mode, end.status, end.code);
    return record;
  }
  await end.tooLate();
  return null;
}

/** Waits between retries while the database is unreachable: the result has been paid for. */
const OUTAGE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Retries a write during a database outage, because its data is stored nowhere else. Throws any other error,
 * and the outage itself after the last wait.
 */
export async function writeSurely(clock: Clock, id: string, write: () => Promise<boolean>): Promise<boolean> {
  for (let tried = 0; ; tried++) {
    try {
      return await write();
    } catch (cause) {
      const waitMs = OUTAGE_WAITS_MS[tried];
      if (waitMs === undefined || !isDatabaseOutage(cause)) throw cause;
      log.warn({ err: cause, executionId: id, tried }, "the end of an execution could not be written yet");
      await sleep(clock, waitMs);
    }
  }
}
