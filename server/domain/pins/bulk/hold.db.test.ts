import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { itemsOf, plain, submitBulk } from "@/testing/bulks";
import { makeProject } from "@/testing/world";
import { requeuePins } from "../transitions";
import { claimItems, takeBulk } from "./claims";
import { reserveItem } from "./hold";

test("a running item is held once, and only under its current fence", async () => {
  const project = await makeProject();
  const now = project.clock.now();
  const bulkId = await submitBulk(project, plain(1));
  const { fence } = (await takeBulk(bulkId, "one", now))!;
  const claim = async () => {
    const [item] = await claimItems({ id: bulkId, fence }, { wanted: 1, owner: "one", leaseMs: 15_000, now });
    return item!;
  };
  const reserve = ({ id, fence }: { id: string; fence: number }) =>
    reserveItem({ pinnedId: id, fence, holdId: newId("hold"), enforcement: null, now });
  const holds = async () => (await itemsOf(bulkId)).map(({ hold }) => hold);

  const lost = await claim();
  await requeuePins([lost]);
  expect([await reserve(lost), await holds()]).toEqual([false, [null]]);
  const taken = await claim();
  expect([await reserve(lost), await holds()]).toEqual([false, [null]]);
  expect([await reserve(taken), await holds()]).toEqual([true, ["open"]]);
  expect([await reserve(taken), await holds()]).toEqual([true, ["open"]]);
});
