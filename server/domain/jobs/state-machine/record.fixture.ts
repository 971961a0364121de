import { expect } from "vitest";
import { type JobStatus, TERMINAL } from "@/server/contract/jobs";
import { env } from "@/server/platform/settings/env";
import { rowsOf } from "@/testing/world";
import { MOVES } from "../transitions/moves";
import { APPROVAL_MS, isEnded, type Model, type Real, SECOND_MS, type Step } from "./model.fixture";
import { operate, pass, sweep } from "./others.fixture";
import { claim, work } from "./workers.fixture";

/* The invariants of a job's record, and the proof that every job can be brought to an end. */

const STATUS_OF: Record<string, JobStatus> = {
  "job.queued": "queued",
  "job.awaiting_approval": "awaiting_approval",
  "job.started": "running",
  "job.retry_scheduled": "running",
  "job.cancel_requested": "canceling",
  "job.needs_attention": "needs_attention",
  "job.succeeded": "succeeded",
  "job.failed": "failed",
  "job.canceled": "canceled",
};

/** Checks the invariants that a job's record must meet at any moment. */
export async function checkRecord(model: Model, real: Real): Promise<void> {
  const { job, attempts, hold, events, receipts, ledger } = await rowsOf(real.jobId);
  expect(job.status).toBe(model.status);
  // Event ids are 1..n without gaps, and the row has their number.
  expect(events.map((event) => event.id)).toEqual(events.map((_, position) => position + 1));
  expect(job.last_event).toBe(events.length);
  // Every move is legal, and the last event agrees with the row.
  const statuses = events.flatMap(({ type }) => STATUS_OF[type] ?? []);
  for (const [position, status] of statuses.entries()) {
    const before = statuses[position - 1];
    if (before) expect(MOVES[before], `${before} to ${status}`).toContain(status);
  }
  expect(statuses.at(-1)).toBe(job.status);
  // A job has one end and one receipt, and nothing follows them.
  const ends = statuses.filter((status) => TERMINAL.includes(status));
  const hasEnded = TERMINAL.includes(job.status);
  // An answer after the end settles an ambiguous hold and changes nothing else.
  const isLate = hold.resolution === "late_answer";
  expect(ends).toHaveLength(hasEnded ? 1 : 0);
  expect(receipts).toHaveLength(hasEnded ? 1 : 0);
  expect(events.filter(({ type }) => type === "job.receipt_sealed")).toHaveLength(hasEnded ? 1 : 0);
  expect(job.completed_at !== null).toBe(hasEnded);
  if (hasEnded) {
    expect(events.slice(-2).map(({ type }) => STATUS_OF[type] ?? type)).toEqual([
      job.status,
      "job.receipt_sealed",
    ]);
    const holdState = isLate ? "ambiguous" : hold.state;
    expect(JSON.parse(receipts[0].body)).toMatchObject({ status: job.status, holdState });
  }
  // The hold stays open until the job ends, and the books balance.
  expect(hold.state === "open").toBe(!hasEnded);
  expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
  // The books also contain the exposure of failed calls, which no customer pays.
  const charges = ledger.filter(({ kind }) => kind !== "exposure");
  const charged = charges.reduce((sum, entry) => sum + Math.max(0, entry.amount_micros), 0);
  expect(charged).toBe(hold.state === "settled" ? hold.settled_micros : 0);
  expect(attempts.length).toBeLessThanOrEqual(1);
  if (hasEnded) {
    // Work that may have run without an answer keeps its hold; a request that was never sent releases it.
    const submission = attempts[0]?.submission ?? "not_attempted";
    if (submission === "not_attempted") expect(hold.state).toBe("released");
    if (submission === "ambiguous") expect(hold.state !== "ambiguous").toBe(isLate);
    if (submission === "attempted" && model.tried === "handle" && job.status === "canceled")
      expect(hold.state !== "ambiguous").toBe(isLate);
  }
  // An ended job does not change.
  const money = JSON.stringify({ hold, ledger });
  const record = JSON.stringify({ job, receipts, events });
  if (real.ended !== null) {
    expect(record).toBe(real.ended.record);
    if (!(isLate && real.ended.isAmbiguous)) expect(money).toBe(real.ended.money);
  }
  if (hasEnded) real.ended = { record, money, isAmbiguous: hold.state === "ambiguous" };
}

/** Brings the job to an end from any state, and checks that its request was sent at most once. */
export async function bringToEnd(model: Model, real: Real): Promise<void> {
  for (let rounds = 0; !isEnded(model); rounds++) {
    expect(rounds).toBeLessThan(12);
    const next: Step[] =
      model.status === "awaiting_approval"
        ? [pass(APPROVAL_MS + SECOND_MS), sweep]
        : model.status === "needs_attention"
          ? [operate("failWaiting", "failed")]
          : [pass(60 * SECOND_MS), sweep, claim, work(0)];
    for (const step of next) {
      await step.run(model, real);
      await checkRecord(model, real);
    }
  }
  for (const { attemptId } of real.claims) {
    const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attemptId}`);
    expect(((await answer.json()) as { count: number }).count).toBeLessThanOrEqual(1);
  }
}
