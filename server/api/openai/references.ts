import type { GivenItem, InputItem, ResponsesRequest } from "@/server/contract/openai-responses";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { Fault, ValidationFault } from "@/server/errors";
import { itemsOf } from "./responses";
import { saidIn } from "./result";

/*
 * Items of earlier answers that a request names instead of bringing them, as AI SDK does. Their ids are made of their
 * execution's, so nothing more is stored for them: they are read from its output while that is kept.
 */

const MOST_REFERENCES = 256;
/** `msg_<ulid>`, `fc_<ulid>_<place>`; a server of OpenAI's own would name thinking by `rs_`, of which nothing here has any. */
const ITEM_ID = /^(?:msg|fc)_([0-9A-Za-z]{26})(?:_\d+)?$/;

/** The input of a request with the items it names in their places. Refuses, at its place, one that is not there (any more). */
export async function wholeInput(ctx: Ctx, { input }: ResponsesRequest): Promise<string | GivenItem[]> {
  if (typeof input === "string") return input;
  const references = input.filter(({ type }) => type === "item_reference").length;
  if (references > MOST_REFERENCES)
    throw new ValidationFault([
      { loc: ["body", "input"], msg: `At most ${MOST_REFERENCES} items may be named.`, type: "too_long" },
    ]);
  return Promise.all(input.map((item, place) => itemOf(ctx, item, place)));
}

async function itemOf(ctx: Ctx, item: InputItem, place: number): Promise<GivenItem> {
  if (item.type !== "item_reference") return item;
  const [, ulid] = ITEM_ID.exec(item.id) ?? [];
  const found = ulid ? await findItem(ctx, `wfr_${ulid}`, item.id) : null;
  if (found) return found;
  const msg = "No kept answer has an item of this id; give the item itself (store: false in AI SDK).";
  throw new ValidationFault([{ loc: ["body", "input", place, "id"], msg, type: "value_error" }]);
}

/** Of an execution the caller may see, whose output is still kept. */
async function findItem(ctx: Ctx, executionId: string, itemId: string): Promise<GivenItem | null> {
  try {
    const { typedOutput } = await jobs.get(ctx, executionId, "capabilities:run");
    if (typedOutput === null) return null;
    const head = { id: executionId };
    const [said] = saidIn({ typedOutput, terminationReason: null }, head);
    return itemsOf(head, said).find(({ id }) => id === itemId) ?? null;
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "NotFound") return null;
    throw cause;
  }
}
