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
export type Held = { id: string; fence: number };
type Next = { state: "ended" } | { state: "again"; afterMs: number };

/** A step takes up items for this long; what it has taken up goes on, whatever the next step does. */
const CLAIM_MS = 20_000;
/** Looks again after this long, where nothing tells: items of other processes end unheard. */
const LOOK_MS = 500;
/** Between looks at items that others work on. */
const STRAGGLERS_MS = 2_000;
const RENEW_MS = 3_000;
/** An Inngest server keeps the results of a run's steps until it ends: a run of very many goes on as another run. */
const MOST_TURNS = 400;

/**
 * The flow of a bulk: one run for all of its items. Each step of this process takes up items as long as
 * there are any; the rows decide, so a repeated step or a second run changes nothing.
 */
export async function runBulk(ctx: Ctx, bulkId: string, step: Step): Promise<void> {
  const taken = await step.run("take", () => takeBulk(bulkId, leaseOwner, ctx.now()));
  if (!taken) return;
  const bulk: Held = { id: bulkId, fence: taken.fence };
  for (let turn = 1; turn <= MOST_TURNS; turn++) {
    const next: Next = await step.run(`work-${turn}`, () => work(ctx, bulk));
    if (next.state === "ended") return;
    if (next.afterMs > 0) await step.sleep(`wait-${turn}`, next.afterMs);
  }
  await step.run("go-on", async () => {
    await goOn(bulk);
    return null;
  });
}

/** What this process works on of each bulk; what earlier steps took up, too. */
const here = new Map<string, LoadedBulk>();

// The web process runs our modules twice, once in Next's bundle, which an Inngest server calls: both hear of a shutdown.
const shared = globalThis as { capstanBulks?: { isStopping: boolean; bells: Set<() => void> } }; // our own slot
shared.capstanBulks ??= { isStopping: false, bells: new Set() };
const working = shared.capstanBulks;

/** From here on this process takes up no items; those under way end normally. */
export function stopClaiming(): void {
  working.isStopping = true;
  for (const ring of working.bells) ring();
}

/** One step takes up items until there are none, the step's time has ended, or the bulk is somebody else's. */
export async function work(ctx: Ctx, held: Held, { claimMs = CLAIM_MS } = {}): Promise<Next> {
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
          // Its lease runs out, and the sweeper stores what is known.
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

async function afterWork(ctx: Ctx, held: Held): Promise<Next> {
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

function isHeldByUs(state: BulkState | null, held: Held): state is BulkState {
  return state?.fence === held.fence && state.status === "running";
}

/** Keeps the bulk's lease while a step works, and hears by the way of a cancel. */
function keep(held: Held, bulk: LoadedBulk, changed: () => void) {
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

/** A run that has become long goes on as another one. */
async function goOn(held: Held): Promise<void> {
  const next = await letGo(held);
  if (next) wakeBulk({ id: held.id, ...next });
}

/** Something to wait for that may also happen while no one waits. */
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
