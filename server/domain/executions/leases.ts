import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { systemClock } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import type { AbortReason } from "./classify";

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
  release(): void;
};

/** Renews these leases in one statement. Answers with those that still hold, and whether their work is to be canceled. */
export type Renew = (claimed: Claimed[], until: Date) => Promise<ReadonlyMap<string, "held" | "canceled">>;

export type LeaseKeeper = {
  /**
   * Holds a claimed row: its lease is renewed until released. Without a deadline the work itself knows how long it may
   * take; a deadline that has passed stops it before it begins.
   */
  hold(id: string, fence: number, deadlineMs?: number): Lease;
  /** Does this process work on this row under this fence right now? */
  isHeld(id: string, fence: number): boolean;
  renew(now?: Date): Promise<void>;
};

type Kept = Claimed & { abort(reason: AbortReason): void; isReleased: boolean };

// The web process runs our modules twice, once in Next's bundle: a shutdown must reach what either of them works on.
const shared = globalThis as { capstanLeases?: Set<Kept> }; // our own slot, written only here
shared.capstanLeases ??= new Set();
/** Every row that any keeper of this process holds. */
const held = shared.capstanLeases;

/** Keeps leases, which `renewAll` renews. */
export function leaseKeeper(renewAll: Renew): LeaseKeeper {
  const mine = new Set<Kept>();
  let timer: NodeJS.Timeout | undefined;

  async function renew(now: Date = systemClock()): Promise<void> {
    if (mine.size === 0) return;
    const asked = [...mine];
    try {
      const renewed = await renewAll(asked, new Date(now.getTime() + LEASE_MS));
      for (const each of asked) {
        if (each.isReleased) continue; // meanwhile
        const state = renewed.get(each.id);
        if (state === "canceled") each.abort("canceled");
        else if (state === undefined) each.abort("lease_lost");
      }
    } catch (cause) {
      log.warn({ err: cause }, "leases could not be renewed");
    }
  }

  return {
    renew,
    isHeld(id, fence) {
      return [...mine].some((each) => each.id === id && each.fence === fence);
    },
    hold(id, fence, deadlineMs) {
      const [work, answer] = [new AbortController(), new AbortController()];
      const abort = (reason: AbortReason) => {
        work.abort(reason);
        if (reason !== "lease_lost") answer.abort(reason);
      };
      const deadline =
        deadlineMs === undefined ? undefined : setTimeout(() => abort("deadline"), deadlineMs).unref();
      // A timer would come a moment later, and a quick request be out by then.
      if (deadlineMs !== undefined && deadlineMs <= 0) abort("deadline");
      const one: Kept = { id, fence, abort, isReleased: false };
      mine.add(one);
      held.add(one);
      timer ??= setInterval(() => void renew(), RENEW_MS).unref();
      return {
        id,
        fence,
        signal: work.signal,
        answerSignal: answer.signal,
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

const renewIn =
  (table: "job" | "pinned_execution"): Renew =>
  async (claimed, until) => {
    const { rows } = await pool.query<{ id: string; status: string }>(
      // Locked in the order of ids, as every other statement of many does. A lease that covers a wait stays longer.
      `WITH mine AS MATERIALIZED (
         SELECT held.id FROM ${table} held JOIN unnest($1::text[], $2::int[]) AS asked(id, fence)
           ON held.id = asked.id AND held.fence = asked.fence
         WHERE status IN ('running', 'canceling') ORDER BY held.id FOR NO KEY UPDATE OF held
       )
       UPDATE ${table} SET lease_until = greatest(lease_until, $3) FROM mine WHERE ${table}.id = mine.id
       RETURNING ${table}.id, ${table}.status`,
      [claimed.map(({ id }) => id), claimed.map(({ fence }) => fence), until],
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
