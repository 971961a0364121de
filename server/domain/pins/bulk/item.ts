import { START_WINDOW_SECONDS } from "@/server/contract/pinned";
import type { Ctx } from "@/server/domain/ctx";
import { enforcementOf } from "@/server/domain/envelope";
import { clockOf, end, failed, nothingSent, pinLeases } from "@/server/domain/executions";
import { type SharedRequest, sharedContentOf } from "@/server/domain/pins/planning/request";
import { type ErrorCode, Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { storeOf } from "../end";
import { listPinAttempts } from "../read";
import type { SharedContent } from "../rows";
import { requeuePins } from "../transitions";
import { execute } from "../turn";
import type { ClaimedItem } from "./claims";
import { reserveItem } from "./hold";
import { type BulkRow, inputOf, readBulk, sharedOf } from "./rows";
import type { Width } from "./width";

/** A bulk that this process works on. */
export type LoadedBulk = {
  row: BulkRow;
  /** Null if it was removed. */
  content: SharedContent | null;
  enforcement: ReturnType<typeof enforcementOf>;
  isCanceled: boolean;
  /** The number of items that this process has claimed and that have not ended. */
  underWay: number;
};

export async function loadBulk(bulkId: string): Promise<LoadedBulk> {
  const [row, shared] = await Promise.all([readBulk(bulkId), sharedOf(bulkId)]);
  if (!row) throw new Error(`the bulk ${bulkId} does not exist`);
  const request = shared as SharedRequest | null; // it was parsed when the bulk was accepted
  return {
    row,
    content: request && sharedContentOf(request),
    enforcement: enforcementOf({ execution: { executionConstraints: {} }, budget: request?.budget }),
    isCanceled: row.cancel_requested_at !== null,
    underWay: 0,
  };
}

/**
 * Runs one item to its end, independently of the others. Its money is reserved at its turn. If that is
 * refused, or its content was removed, or its turn was too long ago, the item fails and nothing is sent.
 */
export async function runItem(ctx: Ctx, bulk: LoadedBulk, item: ClaimedItem, width: Width): Promise<void> {
  const { row, content } = bulk;
  const { plan } = row;
  const lease = pinLeases.hold(item.id, item.fence, { goodUntil: item.goodUntil });
  const clock = clockOf(ctx);
  try {
    const attempts = item.fence === 1 ? [] : ((await listPinAttempts([item.id])).get(item.id) ?? []);
    const held = { row: item, plan, attempts, clock };
    const refuse = (code: ErrorCode, message: string) =>
      end(storeOf(held), failed("unsendable", message, nothingSent, { code }));
    const input = item.input && inputOf(item.input);
    if (input === null || content === null)
      return void (await refuse("PayloadUnavailable", "The content of this item was removed."));
    if (clock.now().getTime() - item.started_at.getTime() > START_WINDOW_SECONDS * 1000)
      return void (await refuse(
        "QueueTimeout",
        `The item could not be sent within ${START_WINDOW_SECONDS} seconds of its turn.`,
      ));
    try {
      if (
        !(await reserveItem({
          pinnedId: item.id,
          fence: item.fence,
          holdId: newId("hold"),
          enforcement: bulk.enforcement,
          now: clock.now(),
        }))
      )
        return;
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause;
      return void (await refuse(cause.code, cause.message));
    }
    const result = await execute({
      ...held,
      content: { ...content, input },
      lease,
      onCapacity: () => width.note("refused"),
      mayGoOn: () => !bulk.isCanceled,
    });
    if (result.state === "stopped") await requeuePins([item]);
    const written = result.state === "ended" ? result.written : undefined;
    if (written?.submission === "attempted" && written.code !== "ProviderUnavailable") width.note("taken");
  } finally {
    lease.release();
  }
}
