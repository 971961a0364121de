import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { batched } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { leaseFor } from "@/server/sql/leases";
import type { AbortReason, Gate } from "./call-outcome";

/** A lease this long outlives a stalled process by little and is renewed three times before it ends. */
export const LEASE_MS = 15_000;
const RENEW_MS = 2_000;
/** After the grace, stopped work has this long to store how it ended. */
const LAST_WRITES_MS = 3_000;

/** Names this process on its leases. */
export const leaseOwner = `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;

/** A row that this process works on: its id and the fence of its claim. */
export type Claimed = { id: string; fence: number };
export type Lease = Claimed & {
  /** Aborts with the reason when the work must stop: deadline, cancel, a lost lease, shutdown. */
  signal: AbortSignal;
  /** The same without a lost lease: the wait for a provider's answer, which is worth knowing all the same. */
  answerSignal: AbortSignal;
  /** Asked before the first byte leaves: renews a lease of which less than so much is surely left. */
  gate(leastMs?: number): Promise<Gate>;
  release(): void;
};

/** Renews these leases in one statement. Answers with those that still hold, and whether their work is to be canceled. */
export type Renew = (claimed: Claimed[]) => Promise<ReadonlyMap<string, "held" | "canceled">>;

export type Holding = {
  /** Without one the work itself knows how long it may take; one that has passed stops it before it begins. */
  deadlineMs?: number | undefined;
  /** Until when the lease lasts at least (`goodFrom`); absent: not known, so it is renewed before anything leaves. */
  goodUntil?: number | undefined;
};

export type LeaseKeeper = {
  /** Holds a claimed row: its lease is renewed until released. */
  hold(id: string, fence: number, how?: Holding): Lease;
  /** Does this process work on this row under this fence right now? */
  isHeld(id: string, fence: number): boolean;
  renew(): Promise<void>;
};

/**
 * Until when a lease lasts that a statement gives, by this process's own steady clock. `sentAt`: `performance.now()` before
 * the statement was sent. The row's lease begins later than that, so it cannot end earlier, whatever clocks say and however
 * long the statement waited.
 */
export const goodFrom = (sentAt: number, leaseMs: number = LEASE_MS): number => sentAt + leaseMs;

/** Nothing is sent under a lease of which less than this is left. */
const LEAST_MS = 3_000;

type Kept = Claimed & { abort(reason: AbortReason): void; isReleased: boolean; goodUntil: number };

// The web process runs our modules twice, once in Next's bundle: a shutdown must reach what either of them works on.
const shared = globalThis as { capstanLeases?: Set<Kept> }; // our own slot, written only here
shared.capstanLeases ??= new Set();
/** Every row that any keeper of this process holds. */
const held = shared.capstanLeases;

/** Keeps leases, which `renewAll` renews. */
export function leaseKeeper(renewAll: Renew): LeaseKeeper {
  const mine = new Set<Kept>();
  let timer: NodeJS.Timeout | undefined;
  let renewal = { since: Number.NEGATIVE_INFINITY, isUnderWay: false };

  /** Renews these, and stops the work of those that no longer hold. */
  async function renewThese(asked: Kept[]): Promise<void> {
    const goodUntil = goodFrom(performance.now());
    const renewed = await renewAll(asked);
    for (const each of asked) {
      if (each.isReleased) continue; // meanwhile
      const state = renewed.get(each.id);
      if (state === undefined) each.abort("lease_lost");
      else each.goodUntil = Math.max(each.goodUntil, goodUntil);
      if (state === "canceled") each.abort("canceled");
    }
  }

  /** Those that wait at the gate share statements. */
  const renewOne = batched<Kept, null>(
    async (asked) => {
      await renewThese(asked);
      return asked.map(() => null);
    },
    { apart: ({ id }) => id },
  );

  async function renew(): Promise<void> {
    if (mine.size === 0) return;
    // Few at a time: while the database stands still, more would only take the connections of the pool. One that hangs on a
    // connection that is gone keeps no other.
    if (renewal.isUnderWay && performance.now() - renewal.since < LEASE_MS / 3) return;
    const mineNow = { since: performance.now(), isUnderWay: true };
    renewal = mineNow;
    await renewThese([...mine])
      .catch((cause) => log.warn({ err: cause }, "leases could not be renewed"))
      .finally(() => {
        mineNow.isUnderWay = false;
      });
  }

  return {
    renew,
    isHeld(id, fence) {
      return [...mine].some((each) => each.id === id && each.fence === fence);
    },
    hold(id, fence, { deadlineMs, goodUntil = Number.NEGATIVE_INFINITY } = {}) {
      const [work, answer] = [new AbortController(), new AbortController()];
      const abort = (reason: AbortReason) => {
        work.abort(reason);
        if (reason !== "lease_lost") answer.abort(reason);
      };
      const deadline =
        deadlineMs === undefined ? undefined : setTimeout(() => abort("deadline"), deadlineMs).unref();
      // A timer would come a moment later, and a quick request be out by then.
      if (deadlineMs !== undefined && deadlineMs <= 0) abort("deadline");
      const one: Kept = { id, fence, abort, isReleased: false, goodUntil };
      mine.add(one);
      held.add(one);
      timer ??= setInterval(() => void renew(), RENEW_MS).unref();
      const isLost = () => work.signal.reason === ("lease_lost" satisfies AbortReason);
      return {
        id,
        fence,
        signal: work.signal,
        answerSignal: answer.signal,
        async gate(leastMs = LEAST_MS) {
          while (!isLost() && !answer.signal.aborted && performance.now() > one.goodUntil - leastMs) {
            const isAsked = await Promise.race([
              renewOne(one).then(
                () => true,
                (cause) => {
                  log.warn(
                    { err: cause, executionId: id },
                    "a lease could not be renewed before it was used",
                  );
                  return false;
                },
              ),
              abortOf(answer.signal),
            ]);
            if (!isAsked && !isLost()) return "unsure";
          }
          return isLost() ? "lost" : "open";
        },
        release() {
          clearTimeout(deadline);
          one.isReleased = true;
          mine.delete(one);
          held.delete(one);
          if (mine.size === 0) {
            clearInterval(timer);
            timer = undefined;
          }
        },
      };
    },
  };
}

/** Resolves when the work is stopped for another reason than its lease: whoever sends looks at the signal itself. */
const abortOf = (signal: AbortSignal) =>
  new Promise<true>((resolve) => signal.addEventListener("abort", () => resolve(true), { once: true }));

const renewIn =
  (table: "job" | "pinned_execution"): Renew =>
  async (claimed) => {
    const { rows } = await pool.query<{ id: string; status: string }>(
      // Locked in the order of ids, as every other statement of many does. A lease that covers a wait stays longer.
      `WITH mine AS MATERIALIZED (
         SELECT held.id FROM ${table} held JOIN unnest($1::text[], $2::int[]) AS asked(id, fence)
           ON held.id = asked.id AND held.fence = asked.fence
         WHERE status IN ('running', 'canceling') ORDER BY held.id FOR NO KEY UPDATE OF held
       )
       UPDATE ${table} SET lease_until = greatest(lease_until, ${leaseFor(LEASE_MS)}) FROM mine WHERE ${table}.id = mine.id
       RETURNING ${table}.id, ${table}.status`,
      [claimed.map(({ id }) => id), claimed.map(({ fence }) => fence)],
    );
    return new Map(rows.map(({ id, status }) => [id, status === "canceling" ? "canceled" : "held"]));
  };

/** The leases of jobs and of pinned executions: work whose lease is lost or that is to be canceled is stopped. */
export const jobLeases = leaseKeeper(renewIn("job"));
export const pinLeases = leaseKeeper(renewIn("pinned_execution"));

/**
 * Waits until all work of this process has let go of its leases; when the grace has ended, stops every running call and
 * gives it a moment to store the outcome.
 */
export async function releaseAllLeases(graceMs: number): Promise<void> {
  await emptied(graceMs);
  for (const each of [...held]) each.abort("shutdown");
  await emptied(LAST_WRITES_MS);
}

async function emptied(withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (held.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
}
