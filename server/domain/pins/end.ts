import type { PinnedOutput, PinnedRecord } from "@/server/contract/pinned-records";
import { ledgerAccount } from "@/server/domain/budgets";
import type { KeptContent } from "@/server/domain/content";
import {
  booksOf,
  type Clock,
  type Ending,
  finishOnce,
  freesKey,
  moneyOf,
  type NewEnding,
  rowOf,
  writeSurely,
} from "@/server/domain/executions";
import type { Sealed } from "@/server/domain/receipts";
import { pinnedRecord } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId, receiptIdOf } from "@/server/platform/ids";
import { canonicalText } from "@/server/platform/text/canonical";
import { pick } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { keepLateAnswer } from "./corrections";
import { keptUnder } from "./planning/plan";
import { targetOf } from "./planning/target";
import { type Clocks, type RecordRow, sealRecord, toRecord } from "./record";
import { type PinnedAttemptRow, type PinnedPlan, startOf, submissionOf, waitsBetween } from "./rows";
import { type Finish, finish } from "./transitions";

/**
 * An execution held by the process that ends it: the row as it was claimed, under the fence of that claim.
 */
export type Held = {
  row: RecordRow & { fence: number };
  plan: PinnedPlan;
  /** Every submission so far. One without an end is open, and ends with the execution. */
  attempts: PinnedAttemptRow[];
  clock: Clock;
};

/** A complete answer. */
export type Whole = { output: PinnedOutput; native: Json };

/** An ended execution, as it was stored. */
export type Finished = {
  state: "ended";
  code: string | null;
  submission: PinnedAttemptRow["submission"];
  /** The record as callers see it, composed on demand. */
  record(): PinnedRecord;
  /**
   * Parts of a failure that only this answer shows and no record stores: the provider's reply, and when to
   * retry.
   */
  shownOnce: Pick<Ending, "said" | "details">;
};

/** The terms in which a pinned record reports an outcome. */
export function wordsOf({ kind, code }: Pick<NewEnding, "kind" | "code">) {
  const { pinned, settlement, submission, isSafe } = rowOf(kind);
  const own = pinned?.code ?? code;
  return {
    status: settlement === "ambiguous" ? "ambiguous" : own === null ? "succeeded" : "failed",
    code: own,
    submission: pinned?.submission ?? submission,
    settlement,
    isSafe,
  } as const;
}

/**
 * Ends an execution: status, last submission, record, content, hold and ledger in one statement. Null if
 * another end came first or the lease was lost; an answer that did arrive is then kept as a correction.
 */
export async function finishPinned(
  held: Held,
  ending: NewEnding,
  { answer = null, clocks }: { answer?: Whole | null; clocks?: Clocks } = {},
): Promise<Finished | null> {
  const { row, plan, clock } = held;
  const now = clock.now();
  const { observed } = ending;
  const { status, code, settlement, isSafe } = wordsOf(ending);
  const { provider, model } = plan.pin;
  const { maximum_micros: maximumMicros } = row;
  const priced = { ...plan, maximumMicros, maximumUpstreamMicros: maximumMicros };
  const { costMicros, usage, estimated } = observed;
  const money = moneyOf(priced, [
    { provider, settlement, costMicros, usage, isPartial: estimated === "partial" },
  ]);
  const books = booksOf(priced, money, ledgerAccount(row.organization_id, null), `${provider}/${model}`);
  const attempts = held.attempts.map((each) => (each.ended_at ? each : closed(each, ending, now)));
  const error = code === null ? null : { code, message: ending.message ?? code };
  const content = contentOf(held, answer, now);
  const record = await finishOnce({
    mode: "pinned",
    status,
    code,
    seal: () =>
      sealRecord({
        row,
        plan,
        status,
        error,
        attempts,
        outputHash: content.outputHash,
        nativeResponseHash: content.nativeHash,
        finishReason: answer?.output.finishReason ?? null,
        observed,
        costMicros: books.costMicros,
        holdState: books.holdState,
        price: targetOf(plan)?.model.price ?? null,
        clocks: clocks ?? clocksOf(held, now),
        safelyRetryable: isSafe,
        completedAt: now,
      }),
    write: (sealed) => {
      const item: Finish = {
        pinnedId: row.id,
        fence: row.fence,
        to: status,
        now,
        attempt: attempts.find((_, place) => held.attempts[place]?.ended_at === null) ?? null,
        error_code: error?.code ?? null,
        error,
        safely_retryable: isSafe,
        frees_key: freesKey(ending) && submissionOf(held.attempts) !== "attempted",
        actual_micros: books.costMicros,
        usage,
        receipt_id: receiptIdOf(row.id),
        record: sealed,
        output: content.output,
        native: content.native,
        hold: books.hold,
        transaction_id: newId("transaction"),
        pricing_version: plan.pricingVersion,
        postings: books.postings,
      };
      return writeSurely(
        clock,
        row.id,
        async () => (await finish(item)) || isWritten(item.receipt_id, sealed),
      );
    },
    tooLate: async () => {
      if (answer) await keepLateAnswer(row, { status, code, observed }, content, now);
    },
  });
  if (!record) return null;
  return {
    state: "ended",
    code,
    submission: submissionOf(attempts),
    record: () =>
      toRecord(record, {
        output: answer?.output ?? null,
        ...(content.native && answer ? { native: answer.native } : {}),
        corrections: [],
      }),
    shownOnce: ending,
  };
}

/** Closes a submission in the terms of pinned records. */
export function closed(attempt: PinnedAttemptRow, ending: NewEnding, now: Date): PinnedAttemptRow {
  const { submission, code } = wordsOf(ending);
  const http_status = submission === "ambiguous" ? null : ending.observed.httpStatus;
  return { ...attempt, submission, http_status, error_code: code, ended_at: now };
}

/** Durations computed from the rows, for an execution that no process saw from its start. */
const clocksOf = ({ row, attempts }: Held, now: Date): Clocks => ({
  retryWaitMs: waitsBetween(attempts),
  providerExecutionMs: null,
  wallClockMs: Math.max(0, now.getTime() - startOf(row).getTime()),
});

type EndContent = {
  output: KeptContent | null;
  outputHash: string | null;
  native: KeptContent | null;
  nativeHash: string | null;
};

/**
 * The hashes of an answer and the content to store. The vendor's response is stored only if the caller
 * requested it.
 */
function contentOf({ plan }: Held, answer: Whole | null, now: Date): EndContent {
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

/** True if a statement whose answer was lost wrote this record. */
const isWritten = async (receiptId: string, { hash }: Sealed): Promise<boolean> =>
  (await findWritten.count(pool, { id: receiptId, hash })) > 0;
