import type { PinnedOutput, PinnedRecord } from "@/server/contract/pinned-records";
import { ledgerAccount } from "@/server/domain/budgets";
import {
  booksOf,
  type Clock,
  callMoneyOf,
  freesKey,
  moneyOf,
  type NewEnding,
  rowOf,
  sleep,
} from "@/server/domain/executions";
import { pinnedRecord } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { newId, receiptIdOf } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { canonicalText } from "@/server/platform/text/canonical";
import { pick } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { keepLateAnswer } from "./corrections";
import { keptUnder } from "./planning/plan";
import { targetOf } from "./planning/target";
import { type Clocks, type RecordRow, sealRecord, toRecord } from "./record";
import { type PinnedAttemptRow, type PinnedPlan, startOf, submissionOf, waitsBetween } from "./rows";
import { finishPin, type PinFinish } from "./transitions";

/**
 * An execution held by the process that ends it: the row as it was claimed, under the fence of that claim.
 */
export type HeldPin = {
  row: RecordRow & { fence: number };
  plan: PinnedPlan;
  /** Every submission so far. One without an end is open, and ends with the execution. */
  attempts: PinnedAttemptRow[];
  clock: Clock;
};

/** A complete answer. */
export type Whole = { output: PinnedOutput; native: Json };

/** The terms in which a pinned record reports an outcome. */
function recordTerms({ kind, code }: Pick<NewEnding, "kind" | "code">) {
  const { pinned, settlement, submission, isSafe } = rowOf(kind);
  const own = pinned?.code ?? code;
  return {
    status: settlement === "ambiguous" ? "ambiguous" : own === null ? "succeeded" : "failed",
    code: own,
    submission: pinned?.submission ?? submission,
    isSafe,
  } as const;
}

/**
 * The statements for the end of a pinned execution: one writes status, last submission, record, content, hold
 * and ledger. If an answer arrives after the execution has already ended, its hashes and figures are stored
 * as a correction. `clocks`: the durations that this process measured; if absent, they are computed from the
 * rows.
 */
export function storeOf(
  held: HeldPin,
  { answer = null, clocks }: { answer?: Whole | null; clocks?: Clocks } = {},
) {
  async function* ends(ending: NewEnding) {
    yield prepare({ ...held, answer, ending, now: held.clock.now() }, clocks);
  }
  return { ends, seal, finish: write, late };
}

/** The end of a pinned execution as it is written, with its money, its content and its submissions. */
export type PinEnd = ReturnType<typeof prepare>;
export type SealedPin = Awaited<ReturnType<typeof seal>>;

function prepare(
  facts: HeldPin & { answer: Whole | null; ending: NewEnding; now: Date },
  clocks: Clocks = clocksOf(facts, facts.now),
) {
  const { row, plan, ending, answer, now } = facts;
  const { status, code, isSafe } = recordTerms(ending);
  const { provider, model } = plan.pin;
  const { maximum_micros: maximumMicros } = row;
  const priced = { ...plan, maximumMicros, maximumUpstreamMicros: maximumMicros };
  const money = moneyOf(priced, [callMoneyOf(provider, ending)]);
  const books = booksOf(priced, money, ledgerAccount(row.organization_id, null), `${provider}/${model}`);
  const attempts = facts.attempts.map((each) => (each.ended_at ? each : closed(each, ending, now)));
  const error = code === null ? null : { code, message: ending.message ?? code };
  const content = contentOf(plan, answer, now);
  const submission = submissionOf(attempts);
  const counted = { mode: "pinned", status, code };
  return { ...facts, ...counted, isSafe, books, ended: attempts, submission, error, content, clocks };
}

const seal = async (end: PinEnd) => ({
  ...end,
  record: await sealRecord({
    row: end.row,
    plan: end.plan,
    status: end.status,
    error: end.error,
    attempts: end.ended,
    outputHash: end.content.outputHash,
    nativeResponseHash: end.content.nativeHash,
    finishReason: end.answer?.output.finishReason ?? null,
    observed: end.ending.observed,
    costMicros: end.books.costMicros,
    holdState: end.books.holdState,
    price: targetOf(end.plan)?.model.price ?? null,
    clocks: end.clocks,
    safelyRetryable: end.isSafe,
    completedAt: end.now,
  }),
});

function write({
  row,
  plan,
  clock,
  attempts,
  ended,
  ending,
  books,
  content,
  ...end
}: SealedPin): Promise<boolean> {
  const receiptId = receiptIdOf(row.id);
  const item: PinFinish = {
    pinnedId: row.id,
    fence: row.fence,
    to: end.status,
    now: end.now,
    attempt: ended.find((_, place) => attempts[place]?.ended_at === null) ?? null,
    error_code: end.code,
    error: end.error,
    safely_retryable: end.isSafe,
    frees_key: freesKey(ending) && submissionOf(attempts) !== "attempted",
    actual_micros: books.costMicros,
    usage: ending.observed.usage,
    receipt_id: receiptId,
    record: end.record,
    output: content.output,
    native: content.native,
    hold: books.hold,
    transaction_id: newId("transaction"),
    pricing_version: plan.pricingVersion,
    postings: books.postings,
  };
  return writeSurely(clock, row.id, async () => (await finishPin(item)) || isWritten(receiptId, end.record));
}

async function late({ row, answer, status, code, ending, content, now }: PinEnd): Promise<void> {
  if (answer) await keepLateAnswer(row, { status, code, observed: ending.observed }, content, now);
}

/** The record as callers see it. */
export const recordOf = ({ record, answer, content }: SealedPin): PinnedRecord =>
  toRecord(record, {
    output: answer?.output ?? null,
    ...(content.native && answer ? { native: answer.native } : {}),
    corrections: [],
  });

/** Waits between retries while the database is unreachable: the result has been paid for. */
const OUTAGE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Retries a write during a database outage, because its data is stored nowhere else. Throws any other error,
 * and the outage itself after the last wait.
 */
async function writeSurely(clock: Clock, id: string, write: () => Promise<boolean>): Promise<boolean> {
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

/** Closes a submission in the terms of pinned records. */
export function closed(attempt: PinnedAttemptRow, ending: NewEnding, now: Date): PinnedAttemptRow {
  const { submission, code } = recordTerms(ending);
  const http_status = submission === "ambiguous" ? null : ending.observed.httpStatus;
  return { ...attempt, submission, http_status, error_code: code, ended_at: now };
}

/** Durations computed from the rows, for an execution whose durations this process did not measure. */
const clocksOf = ({ row, attempts }: Pick<HeldPin, "row" | "attempts">, now: Date): Clocks => ({
  retryWaitMs: waitsBetween(attempts),
  providerExecutionMs: null,
  wallClockMs: Math.max(0, now.getTime() - startOf(row).getTime()),
});

/**
 * The hashes of an answer and the content to store. The vendor's response is stored only if the caller
 * requested it.
 */
function contentOf(plan: PinnedPlan, answer: Whole | null, now: Date) {
  if (!answer) return { output: null, outputHash: null, native: null, nativeHash: null };
  const kept = (value: Json) => keptUnder(plan, canonicalText(value), now);
  const output = kept(answer.output);
  const native = kept(answer.native);
  return {
    output,
    outputHash: output.sha256,
    native: plan.includeNativeResponse ? native : null,
    nativeHash: native.sha256,
  };
}

const findWritten = statement("pinned_record.find.written", {
  params: pick(pinnedRecord, "id hash"),
  sql: "SELECT FROM pinned_record WHERE id = $id AND hash = $hash",
});

/** True if this record was written by a statement whose confirmation was lost. */
const isWritten = async (receiptId: string, { hash }: SealedPin["record"]): Promise<boolean> =>
  (await findWritten.count(pool, { id: receiptId, hash })) > 0;
