import { setTimeout as sleep } from "node:timers/promises";
import { relaxedPool } from "@/server/db";
import * as connections from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as notifications from "@/server/domain/notifications";
import * as panels from "@/server/domain/panels";
import * as pins from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { pruneSessions } from "@/server/domain/sessions";
import { log } from "@/server/log";

export type Chore = { name: string; everyMs: number; pass(): Promise<void> };

/** What looks for work that nobody else will move. Each pass is safe in every process at once, so that none is lost. */
export const CHORES: readonly Chore[] = [
  { name: "announce", everyMs: 1_000, pass: () => jobs.announce(systemCtx("announcer")) },
  { name: "sweep-jobs", everyMs: 2_000, pass: () => jobs.sweep(systemCtx("sweeper")) },
  { name: "sweep-pins", everyMs: 2_000, pass: () => pins.sweep(systemCtx("pin-sweeper")) },
  { name: "sweep-requests", everyMs: 2_000, pass: () => requests.sweep(systemCtx("request-sweeper")) },
  { name: "prune-connections", everyMs: 3_600_000, pass: () => connections.prune(systemCtx("pruner")) },
  { name: "prune-panels", everyMs: 3_600_000, pass: () => panels.prune(systemCtx("panel-pruner")) },
  { name: "send-mail", everyMs: 2_000, pass: () => notifications.handOnMail(systemCtx("mail-sweeper")) },
  {
    name: "prune-notifications",
    everyMs: 3_600_000,
    pass: () => notifications.prune(systemCtx("pruner")),
  },
  { name: "prune-sessions", everyMs: 3_600_000, pass: () => pruneSessions(new Date()) },
];

/** How often a process asks whether a chore is due: one statement, however many chores there are. */
const ASK_EVERY_MS = 500;

/**
 * Does chores when they are due until stopped, as often as `everyMs` in all processes together: whoever asks first does one.
 * A process that dies in a pass leaves it to the next pass, and so does one whose pass fails.
 */
export async function startChores(chores: readonly Chore[] = CHORES): Promise<{ stop(): Promise<void> }> {
  const names = chores.map(({ name }) => name);
  await relaxedPool.query(
    "INSERT INTO chore (name, due_at) SELECT name, clock_timestamp() FROM unnest($1::text[]) AS x(name) ON CONFLICT DO NOTHING",
    [names],
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const turns = async () => {
    while (!signal.aborted) {
      await sleep(ASK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const due = await takeDue(chores).catch(failed("chores"));
      for (const { name, pass } of chores.filter(({ name }) => due?.includes(name)))
        await pass().catch(failed(name));
    }
  };
  const ended = turns();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

const failed = (chore: string) => (cause: unknown) =>
  log.error({ err: cause, chore }, "a pass failed; the next one tries again");

/** The chores that are due, now this process's; by the database's clock, even after it was set back. */
async function takeDue(chores: readonly Chore[]): Promise<string[]> {
  const { rows } = await relaxedPool.query<{ name: string }>({
    name: "chores-due",
    text: `WITH due AS (
        SELECT chore.name, wanted.every_ms * interval '1 millisecond' AS every
        FROM chore JOIN unnest($1::text[], $2::integer[]) AS wanted(name, every_ms) USING (name)
        WHERE due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + wanted.every_ms * interval '1 millisecond'
        FOR UPDATE OF chore SKIP LOCKED
      )
      -- Cut, never rounded up: due a part of a millisecond too late would look like a clock that was set back.
      UPDATE chore SET due_at = date_trunc('milliseconds', clock_timestamp()) + due.every FROM due WHERE chore.name = due.name RETURNING chore.name`,
    values: [chores.map(({ name }) => name), chores.map(({ everyMs }) => everyMs)],
  });
  return rows.map(({ name }) => name);
}
