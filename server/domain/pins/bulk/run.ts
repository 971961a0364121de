import type { Ctx } from "@/server/domain/ctx";
import { LEASE_MS, leaseOwner } from "@/server/domain/executions";
import type { Step } from "@/server/platform/durable/step";
import { log } from "@/server/platform/log/log";
import {
  type BulkState,
  bulkStateOf,
  cancelWaiting,
  changeWidth,
  claimItems,
  endBulk,
  letGo,
  renewBulk,
  restBulk,
  takeBulk,
} from "./claims";
import { wakeBulk } from "./dispatch";
import { type LoadedBulk, loadBulk, runItem } from "./item";
import { adaptiveWidth } from "./width";

/** A bulk under the fence of its worker. */
type HeldBulk = { id: string; fence: number };
type Next = { state: "ended" } | { state: "again"; afterMs: number };

/** A step claims items for this long. Claimed items continue, whatever the next step does. */
const CLAIM_MS = 20_000;
/** Interval of looks at the rows, because items of other processes end without a signal here. */
const LOOK_MS = 500;
/** Interval of looks at a bulk whose last items run elsewhere. */
const STRAGGLERS_MS = 2_000;
const RENEW_MS = 3_000;
/**
 * An Inngest server keeps the results of a run's steps until the run ends, so a very long run continues as
 * another run.
 */
const MOST_TURNS = 400;

/**
 * The flow of a bulk: one run for all of its items. Each step claims items in its own process for a limited
 * time. The rows decide, so a repeated step or a second run changes nothing.
 */
export async function runBulk(ctx: Ctx, bulkId: string, step: Step): Promise<void> {
  const taken = await step.run("take", () => takeBulk(bulkId, leaseOwner, ctx.now()));
  if (!taken) return;
  const bulk: HeldBulk = { id: bulkId, fence: taken.fence };
  for (let turn = 1; turn <= MOST_TURNS; turn++) {
    const next: Next = await step.run(`work-${turn}`, () => runStep(ctx, bulk));
    if (next.state === "ended") return;
    if (next.afterMs > 0) await step.sleep(`wait-${turn}`, next.afterMs);
  }
  await step.run("go-on", async () => {
    await goOn(bulk);
    return null;
  });
}

/** Bulks with items under way in this process, including items that earlier steps claimed. */
const here = new Map<string, LoadedBulk>();

// The web process loads our modules twice, once in Next's bundle, which an Inngest server calls. Both copies
// must learn of a shutdown.
const shared = globalThis as { capstanBulks?: { isStopping: boolean; bells: Set<() => void> } }; // our own slot
shared.capstanBulks ??= { isStopping: false, bells: new Set() };
const working = shared.capstanBulks;

/** Stops claims in this process for good; items under way end normally. */
export function stopClaiming(): void {
  working.isStopping = true;
  for (const ring of working.bells) ring();
}

/**
 * Runs one step: claims items until there are none, the step's time has ended, the process stops, or another
 * worker has the bulk.
 */
export async function runStep(ctx: Ctx, held: HeldBulk, { claimMs = CLAIM_MS } = {}): Promise<Next> {
  const state = await bulkStateOf(held.id);
  if (!isHeldByUs(state, held)) return { state: "ended" };
  const bulk = here.get(held.id) ?? (await loadBulk(held.id));
  const width = adaptiveWidth(bulk.row.concurrency, state.lanes, (by) => {
    changeWidth(held, by).catch((cause) =>
      log.warn({ err: cause, bulkId: held.id }, "the width of a bulk could not be changed"),
    );
  });
  const bell = hang();
  const lease = keep(held, bulk, bell.ring);
  try {
    const end = performance.now() + claimMs;
    while (!working.isStopping && !lease.isLost && performance.now() < end) {
      const wanted = width.current - bulk.underWay;
      const claimed =
        wanted > 0
          ? await claimItems(held, { wanted, owner: leaseOwner, leaseMs: LEASE_MS, now: ctx.now() })
          : [];
      for (const item of claimed) {
        here.set(held.id, bulk);
        bulk.underWay++;
        runItem(ctx, bulk, item, width)
          // The lease runs out, and the sweeper ends the item by its rows.
          .catch((cause) => log.error({ err: cause, pinnedId: item.id }, "an item of a bulk failed"))
          .finally(() => {
            bulk.underWay--;
            if (bulk.underWay === 0) here.delete(held.id);
            bell.ring();
          });
      }
      if (claimed.length > 0) continue;
      if (wanted > 0) {
        const now = await bulkStateOf(held.id);
        if (!isHeldByUs(now, held)) return { state: "ended" };
        if (bulk.underWay === 0 && (now.isCanceled || !now.isWaiting)) break;
      }
      await bell.rung(LOOK_MS);
    }
  } finally {
    lease.stop();
    bell.takeDown();
  }
  return afterWork(ctx, held);
}

async function afterWork(ctx: Ctx, held: HeldBulk): Promise<Next> {
  let state = await bulkStateOf(held.id);
  if (state?.isCanceled && state.isWaiting) {
    await cancelWaiting(held.id, ctx.now());
    state = await bulkStateOf(held.id);
  }
  if (!isHeldByUs(state, held)) return { state: "ended" };
  if (!state.isWaiting && !state.isUnderWay && (await endBulk(held.id, ctx.now()))) return { state: "ended" };
  if (state.isWaiting) {
    await renewBulk(held);
    return { state: "again", afterMs: 0 };
  }
  await restBulk(held, STRAGGLERS_MS);
  return { state: "again", afterMs: STRAGGLERS_MS };
}

function isHeldByUs(state: BulkState | null, held: HeldBulk): state is BulkState {
  return state?.fence === held.fence && state.status === "running";
}

/** Renews the bulk's lease while a step works, and learns of a cancel at the same time. */
function keep(held: HeldBulk, bulk: LoadedBulk, changed: () => void) {
  const lease = { isLost: false, stop: () => clearInterval(timer) };
  const timer = setInterval(async () => {
    try {
      const renewed = await renewBulk(held);
      lease.isLost = renewed === null;
      bulk.isCanceled = renewed?.isCanceled ?? bulk.isCanceled;
      if (lease.isLost || bulk.isCanceled) changed();
    } catch (cause) {
      log.warn({ err: cause, bulkId: held.id }, "the lease of a bulk could not be renewed");
    }
  }, RENEW_MS);
  return lease;
}

/** Continues a long run as another run. */
async function goOn(held: HeldBulk): Promise<void> {
  const next = await letGo(held);
  if (next) wakeBulk(next);
}

/** A signal to wait for. A signal that comes while no one waits ends the next wait at once. */
function hang() {
  let hasRung = false;
  let wake = () => {};
  const ring = () => {
    hasRung = true;
    wake();
  };
  working.bells.add(ring);
  return {
    ring,
    async rung(longestMs: number): Promise<void> {
      if (!hasRung)
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, longestMs);
          wake = () => {
            clearTimeout(late);
            resolve();
          };
        });
      hasRung = false;
    },
    takeDown: () => working.bells.delete(ring),
  };
}
