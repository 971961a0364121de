import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { batched } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { column, text, texts } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import type { AbortReason, Gate } from "./call-outcome";

/** A lease this long outlives a stalled process by little and allows several renewals before it ends. */
export const LEASE_MS = 15_000;
const RENEW_MS = 2_000;
/** After the grace, stopped work has this long to store how it ended. */
const LAST_WRITES_MS = 3_000;

/** Names this process on its leases. */
export const leaseOwner = `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;

/** A row that this process works on: its id and the fence of its claim. */
type Claimed = { id: string; fence: number };
export type Lease = Claimed & {
  /** Aborts with the reason when the work must stop: deadline, cancel, a lost lease, shutdown. */
  signal: AbortSignal;
  /** Like `signal`, but a lost lease does not abort it: the provider's answer is still worth waiting for. */
  answerSignal: AbortSignal;
  /**
   * Called before the first byte leaves. Renews the lease unless at least `leastMs` of it is certainly left.
   */
  gate(leastMs?: number): Promise<Gate>;
  release(): void;
};

/**
 * Renews these leases in one statement. Returns those that still hold, and whether their work is to be
 * canceled.
 */
type Renew = (claimed: Claimed[]) => Promise<ReadonlyMap<string, "held" | "canceled">>;

type Holding = {
  /** Absent if the work limits its own time. Zero or less stops the work before it begins. */
  deadlineMs?: number | undefined;
  /**
   * The moment until which the lease certainly lasts (`goodFrom`). If absent, the lease is renewed before
   * anything leaves.
   */
  goodUntil?: number | undefined;
};

type LeaseKeeper = {
  /** Holds a claimed row: its lease is renewed until it is released. */
  hold(id: string, fence: number, how?: Holding): Lease;
  /** True while this keeper holds this row under this fence. */
  isHeld(id: string, fence: number): boolean;
  renew(): Promise<void>;
};

/**
 * The moment until which a lease certainly lasts, on this process's monotonic clock. `sentAt`:
 * `performance.now()` before the statement was sent. The row's lease begins later, so it cannot end earlier,
 * however clocks differ and however long the statement waited.
 */
export const goodFrom = (sentAt: number, leaseMs: number = LEASE_MS): number => sentAt + leaseMs;

/** Minimum time that must be left of a lease before anything is sent. */
const LEAST_MS = 3_000;

type Kept = Claimed & { abort(reason: AbortReason): void; isReleased: boolean; goodUntil: number };

// The web process loads our modules twice, once in Next's bundle. A shutdown must stop the work of both
// copies.
const shared = globalThis as { capstanLeases?: Set<Kept> }; // our own slot, written only here
shared.capstanLeases ??= new Set();
/** Every row that any keeper of this process holds. */
const held = shared.capstanLeases;

/** Makes a keeper that renews its leases through `renewAll`. */
export function leaseKeeper(renewAll: Renew): LeaseKeeper {
  const mine = new Set<Kept>();
  let timer: NodeJS.Timeout | undefined;
  let renewal = { since: Number.NEGATIVE_INFINITY, isUnderWay: false };

  /** Renews these leases and stops the work of those that no longer hold. */
  async function renewThese(asked: Kept[]): Promise<void> {
    const goodUntil = goodFrom(performance.now());
    const renewed = await renewAll(asked);
    for (const each of asked) {
      if (each.isReleased) continue; // released while the statement ran
      const state = renewed.get(each.id);
      if (state === undefined) each.abort("lease_lost");
      else each.goodUntil = Math.max(each.goodUntil, goodUntil);
      if (state === "canceled") each.abort("canceled");
    }
  }

  /** Calls that wait at the gate share statements. */
  const renewOne = batched<Kept, null>(
    async (asked) => {
      await renewThese(asked);
      return asked.map(() => null);
    },
    { apart: ({ id }) => id },
  );

  async function renew(): Promise<void> {
    if (mine.size === 0) return;
    // A hung renewal blocks others for a third of a lease, so an outage does not use up the pool's
    // connections and one dead connection does not end the leases.
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
      // A timer fires a moment later, and a quick request could have left by then.
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

/** Resolves when the work is stopped for a reason other than its lease; senders check the signal itself. */
const abortOf = (signal: AbortSignal) =>
  new Promise<true>((resolve) => signal.addEventListener("abort", () => resolve(true), { once: true }));

function renewIn(table: "job" | "pinned_execution"): Renew {
  const renewing = statement(`${table}.update.renewed_leases`, {
    params: { ids: texts, fences: column<number[]>("int4[]") },
    row: { id: text, status: text },
    // Rows are locked in id order, as in every other statement on many rows. A lease that covers a longer
    // wait is not shortened.
    sql: `WITH mine AS MATERIALIZED (
        SELECT held.id FROM ${table} held JOIN unnest($ids::text[], $fences::int[]) AS asked(id, fence)
          ON held.id = asked.id AND held.fence = asked.fence
        WHERE status IN ('running', 'canceling') ORDER BY held.id FOR NO KEY UPDATE OF held
      )
      UPDATE ${table} SET lease_until = greatest(lease_until, ${leaseFor(LEASE_MS)}) FROM mine WHERE ${table}.id = mine.id
      RETURNING ${table}.id, ${table}.status`,
  });
  return async (claimed) => {
    const ids = claimed.map(({ id }) => id);
    const fences = claimed.map(({ fence }) => fence);
    const rows = await renewing.all(pool, { ids, fences });
    return new Map(rows.map(({ id, status }) => [id, status === "canceling" ? "canceled" : "held"]));
  };
}

/**
 * The leases of jobs and of pinned executions. Work is stopped if its lease is lost or if it is to be
 * canceled.
 */
export const jobLeases = leaseKeeper(renewIn("job"));
export const pinLeases = leaseKeeper(renewIn("pinned_execution"));

/**
 * Waits until all work of this process has released its leases. After the grace period it stops every running
 * call and gives it a moment to store the outcome.
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

/*
 * Rules for taking over work whose lease has ended. A live owner renews its lease even after a database
 * outage or a long lock, so the sweeper must not end work that its owner is about to renew.
 */

/** A pass of a sweeper, timed by the database's clock. */
export type Pass = {
  startedAt: Date;
  /** True if this pass, or an earlier one within the length of a lease, began much too late. */
  isLate: boolean;
};

/** A pass that has taken this long is held up with everything else, and takes nothing over. */
const HELD_UP_MS = 5_000;

/**
 * The moment, on the database's clock, until which a pass may take over abandoned work. A late pass takes
 * over none.
 */
export function reapsUntil(pass: Pass | undefined): Date {
  if (!pass) return NO_END;
  return pass.isLate ? pass.startedAt : new Date(pass.startedAt.getTime() + HELD_UP_MS);
}

/**
 * The limit of a pass that is not timed. JavaScript and PostgreSQL both write this day with a four-digit
 * year.
 */
const NO_END = new Date("9999-12-31T00:00:00Z");
