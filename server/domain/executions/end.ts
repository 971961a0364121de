import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";
import { countEnd } from "@/server/platform/log/metrics";
import { failpoint } from "@/server/platform/settings/failpoint";
import { type Clock, sleep } from "./clock";

/** Ends an execution exactly once, with its record. Null: another end came first, or the lease is lost. */
export async function finishOnce<Record>(end: {
  /** As ends are counted. */
  mode: string;
  status: string;
  code: string | null;
  /** Makes its receipt or record. */
  seal(): Promise<Record>;
  /** Writes the whole end in one statement. False: another end came first, or the lease is lost; nothing was written then. */
  write(record: Record): Promise<boolean>;
  /** Keeps what became known all the same where another end came first. */
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

/** A database that cannot be reached just now is waited for this often: what is in hand was paid for. */
const OUTAGE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** Writes what is kept nowhere else, again and again while the database is out. */
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
