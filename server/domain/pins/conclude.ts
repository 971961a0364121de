import { canonicalText, sha256Hex } from "@/server/canonical";
import { isKeptSealed } from "@/server/content";
import type { PinnedOutput, PinnedRecord, PinnedStatus } from "@/server/contract/pinned";
import { pool } from "@/server/db";
import { accountOf, postingsOf } from "@/server/domain/budgets";
import { keptUntil } from "@/server/domain/envelope";
import { moneyOf, type Observed, type Settlement } from "@/server/domain/executions";
import type { Sealed } from "@/server/domain/receipts";
import type { ErrorCode } from "@/server/errors";
import { failpoint } from "@/server/failpoint";
import { newId, receiptIdOf } from "@/server/ids";
import { log } from "@/server/log";
import { countEnd } from "@/server/metrics";
import { isDatabaseOutage } from "@/server/outage";
import type { Json } from "@/server/step";
import type { Clock } from "./clock";
import { keepLateAnswer } from "./corrections";
import { type Clocks, type RecordRow, sealRecord, toRecord } from "./record";
import { type PinnedAttemptRow, type PinnedPlan, submissionOf } from "./rows";
import { targetOf } from "./target";
import { type AttemptEnd, type Finish, finish, type KeptContent } from "./transitions";

/** How an execution ends, before it is written down. */
export type End = {
  status: PinnedStatus;
  /** Null: it succeeded. */
  code: ErrorCode | null;
  message: string | null;
  settlement: Settlement;
  safelyRetryable: boolean;
  /** The submission it ends with, where that is still open. */
  attempt: AttemptEnd | null;
  observed: Observed;
  /** What came back whole. */
  answer: { output: PinnedOutput | null; native: Json } | null;
  clocks: Clocks;
};

/** Who ends it: the row as it was claimed, under the fence of that claim. */
export type Held = {
  row: RecordRow & { fence: number };
  plan: PinnedPlan;
  /** Every submission so far, the open one among them. */
  attempts: PinnedAttemptRow[];
  clock: Clock;
};

/** An execution that has ended, as it was written down. */
export type Concluded = {
  status: PinnedStatus;
  code: ErrorCode | null;
  message: string | null;
  submission: PinnedAttemptRow["submission"];
  safelyRetryable: boolean;
  /** As it is shown; made when it is asked for. */
  record(): PinnedRecord;
};

/**
 * Ends an execution: status, last submission, record, content, hold and ledger in one statement. Null: another end came
 * first, or the lease is lost; an answer that was observed all the same is kept as a correction then.
 */
export async function conclude(held: Held, end: End): Promise<Concluded | null> {
  const { row, plan, clock } = held;
  const now = clock.now();
  const { settlement, observed } = end;
  const { provider } = plan.pin;
  const money = moneyOf(
    {
      billingMode: plan.billingMode,
      maximumMicros: row.maximum_micros,
      maximumUpstreamMicros: row.maximum_micros,
      serviceFeeBps: plan.serviceFeeBps,
    },
    [{ provider, settlement, costMicros: observed.costMicros, usage: observed.usage }],
  );
  const isPaid = row.maximum_micros > 0;
  const costMicros = isPaid ? money.costMicros : 0;
  const attempts = held.attempts.map((attempt) =>
    attempt.id === end.attempt?.id ? endedAs(attempt, end.attempt) : attempt,
  );
  const error = end.code ? { code: end.code, message: end.message ?? end.code } : null;
  const content = contentOf(held, end, now);
  const record = await sealRecord({
    row,
    plan,
    status: end.status,
    error,
    attempts,
    outputHash: content.outputHash,
    nativeResponseHash: content.nativeHash,
    finishReason: end.answer?.output?.finishReason ?? null,
    observed: end.observed,
    costMicros,
    holdState: isPaid ? money.hold : null,
    price: targetOf(plan)?.model.price ?? null,
    clocks: end.clocks,
    safelyRetryable: end.safelyRetryable,
    completedAt: now,
  });
  failpoint("before-receipt");
  const { chargedMicros, upstream, feeMicros } = money;
  const isWritten = await finishSurely(
    {
      pinnedId: row.id,
      fence: row.fence,
      to: end.status,
      now,
      attempt: end.attempt,
      error,
      safelyRetryable: end.safelyRetryable,
      actualMicros: costMicros,
      usage: end.observed.usage as Json, // named counts
      receiptId: receiptIdOf(row.id),
      record,
      output: content.output,
      native: content.native,
      hold: { state: money.hold, settledMicros: money.hold === "settled" ? chargedMicros : null },
      transactionId: newId("transaction"),
      pricingVersion: plan.pricingVersion,
      postings:
        isPaid && money.hold === "settled"
          ? postingsOf({
              payer: accountOf(row.organization_id, null),
              billingMode: plan.billingMode,
              heldMicros: row.maximum_micros,
              upstream,
              feeMicros,
            })
          : [],
    },
    clock,
  );
  if (!isWritten) {
    if (end.answer) await keepLateAnswer(row, end, content, now);
    return null;
  }
  countEnd("pinned", end.status, end.code);
  return {
    status: end.status,
    code: end.code,
    message: end.message,
    submission: submissionOf(attempts),
    safelyRetryable: end.safelyRetryable,
    record: () =>
      toRecord(record, {
        output: end.answer?.output ?? null,
        ...(content.native && end.answer ? { native: end.answer.native } : {}),
        corrections: [],
      }),
  };
}

export const endedAs = (attempt: PinnedAttemptRow, end: AttemptEnd): PinnedAttemptRow => ({
  ...attempt,
  submission: end.submission,
  http_status: end.httpStatus,
  error_code: end.errorCode,
  ended_at: end.endedAt,
});

export type EndContent = {
  output: KeptContent | null;
  outputHash: string | null;
  native: KeptContent | null;
  nativeHash: string | null;
};

/** What came back, as it is hashed and kept: the vendor's own words only where they were asked for. */
function contentOf({ plan }: Held, { answer }: End, now: Date): EndContent {
  if (!answer) return { output: null, outputHash: null, native: null, nativeHash: null };
  const isSealed = isKeptSealed(plan.dataClassification, plan.retentionRequirement);
  const expiresAt = keptUntil(plan.contentKeptMs, now);
  const kept = (value: Json): KeptContent => {
    const content = canonicalText(value);
    return {
      id: newId("payload"),
      content,
      isSealed,
      sha256: sha256Hex(content),
      byteLength: Buffer.byteLength(content),
      expiresAt,
    };
  };
  const output = answer.output && kept(answer.output);
  const native = kept(answer.native);
  return {
    output,
    outputHash: output?.sha256 ?? null,
    native: plan.includeNativeResponse ? native : null,
    nativeHash: native.sha256,
  };
}

/** A database that cannot be reached just now is waited for this often: what is in hand was paid for. */
const OUTAGE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

async function finishSurely(item: Finish, clock: Clock): Promise<boolean> {
  for (let tried = 0; ; tried++) {
    try {
      return (await finish(item)) || (await isOurs(item.receiptId, item.record));
    } catch (cause) {
      const waitMs = OUTAGE_WAITS_MS[tried];
      if (waitMs === undefined || !isDatabaseOutage(cause)) throw cause;
      log.warn(
        { err: cause, pinnedId: item.pinnedId, tried },
        "the result of an execution could not be written yet",
      );
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    }
  }
}

/** Was it written by a statement whose answer was lost? */
async function isOurs(receiptId: string, { hash }: Sealed): Promise<boolean> {
  const { rows } = await pool.query("SELECT FROM pinned_record WHERE id = $1 AND hash = $2", [
    receiptId,
    hash,
  ]);
  return rows.length > 0;
}
