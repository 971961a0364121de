import type { GivenItem, InputItem, ResponsesRequest } from "@/server/contract/openai-responses";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { outputItems } from "./responses";
import { saidIn } from "./result";

/*
 * Items of earlier responses that a request refers to by id instead of sending them, as AI SDK does. An item's id is derived
 * from its execution's id, so nothing extra is stored: items are read from the output while it is kept.
 */

const MOST_REFERENCES = 256;
/** The forms are `msg_<ulid>`, `rs_<ulid>` and `fc_<ulid>_<place>`. */
const ITEM_ID = /^(?:msg|rs|fc)_([0-9A-Za-z]{26})(?:_\d+)?$/;

/** The input of a request with its referenced items filled in. Refuses a reference that does not exist or is no longer kept. */
export async function wholeInput(ctx: Ctx, { input }: ResponsesRequest): Promise<string | GivenItem[]> {
  if (typeof input === "string") return input;
  const references = input.filter(({ type }) => type === "item_reference").length;
  if (references > MOST_REFERENCES)
    throw new ValidationFault([
      {
        loc: ["body", "input"],
        msg: `At most ${MOST_REFERENCES} items may be referenced.`,
        type: "too_long",
      },
    ]);
  return Promise.all(input.map((item, place) => itemOf(ctx, item, place)));
}

async function itemOf(ctx: Ctx, item: InputItem, place: number): Promise<GivenItem> {
  if (item.type !== "item_reference") return item;
  const [, ulid] = ITEM_ID.exec(item.id) ?? [];
  const found = ulid ? await findItem(ctx, `wfr_${ulid}`, item.id) : null;
  if (found) return found;
  const msg =
    "No stored response has an item with this id. Send the item itself (in AI SDK, set store: false).";
  throw new ValidationFault([{ loc: ["body", "input", place, "id"], msg, type: "value_error" }]);
}

/** An item of an execution that the caller may read and whose output is still kept. */
async function findItem(ctx: Ctx, executionId: string, itemId: string): Promise<GivenItem | null> {
  try {
    const { typedOutput } = await jobs.get(ctx, executionId, "capabilities:run");
    if (typedOutput === null) return null;
    const head = { id: executionId };
    const [said] = saidIn({ typedOutput, terminationReason: null }, head);
    return outputItems(head, said, true).find(({ id }) => id === itemId) ?? null;
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "NotFound") return null;
    throw cause;
  }
}
