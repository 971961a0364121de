import { expect, test } from "vitest";
import { batched } from "./batch";

type Item = { name: string; n: number };

/** Sends that end only when the test ends them. */
function slowSend() {
  const sent: Item[][] = [];
  const ends: (() => void)[] = [];
  const send = (items: Item[]) => {
    sent.push(items);
    return new Promise<number[]>((resolve) => ends.push(() => resolve(items.map((item) => item.n))));
  };
  /** Ends every send, including those that start in between, until all results have arrived. */
  const endAll = async <T>(results: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = results.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      for (const end of ends.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return done;
  };
  return { sent, send, endAll };
}

test("items of one turn leave together, and each gets its own result", async () => {
  const { sent, send, endAll } = slowSend();
  const ask = batched(send);
  const results = await endAll(Promise.all([3, 1, 2].map((n) => ask({ name: "same", n }))));
  expect(results).toEqual([3, 1, 2]);
  expect(sent).toHaveLength(1);
});

test("items of one name never share a batch when kept apart, and a batch is in the order of names", async () => {
  const { sent, send, endAll } = slowSend();
  const ask = batched(send, { apart: (item) => item.name });
  const items = ["c", "a", "b", "a", "c", "a"].map((name, n) => ({ name, n }));
  const results = await endAll(Promise.all(items.map(ask)));
  expect(results).toEqual([0, 1, 2, 3, 4, 5]);
  expect(sent.map((batch) => batch.map(({ name }) => name).join(""))).toEqual(["abc", "ac", "a"]);
  expect(sent.flat().filter(({ name }) => name === "a")).toEqual([items[1], items[3], items[5]]);
});

test("no batch exceeds the limit, and no item is left behind", async () => {
  const { sent, send, endAll } = slowSend();
  const ask = batched(send, { most: 10, apart: (item) => item.name });
  const items = Array.from({ length: 95 }, (_, n) => ({ name: `n${n % 30}`, n }));
  expect(await endAll(Promise.all(items.map(ask)))).toEqual(items.map(({ n }) => n));
  expect(Math.max(...sent.map((batch) => batch.length))).toBe(10);
});

test("one bad item of a batch fails no other", async () => {
  const ask = batched(async (items: number[]) => {
    if (items.includes(2)) throw new Error("two is bad");
    return items;
  });
  const results = await Promise.allSettled([1, 2, 3].map(ask));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
