import { expect, test } from "vitest";
import { recent } from "./recent";

function counted() {
  let now = 0;
  const reads: string[] = [];
  const read = recent(
    (name: string) => name,
    async (name: string) => {
      reads.push(name);
      if (name === "broken") throw new Error("broken");
      return reads.length;
    },
    () => now,
  );
  return { read, reads, pass: (ms: number) => (now += ms) };
}

test("a value that was read within a second is not read again, for each name separately", async () => {
  const { read, reads, pass } = counted();
  await Promise.all([read("a"), read("a"), read("b")]);
  pass(999);
  expect(await read("a")).toBe(1);
  pass(1);
  expect(await read("a")).toBe(3);
  expect(reads).toEqual(["a", "b", "a"]);
});

test("a failed read is not remembered", async () => {
  const { read, reads } = counted();
  await expect(read("broken")).rejects.toThrow("broken");
  await expect(read("broken")).rejects.toThrow("broken");
  expect(reads).toEqual(["broken", "broken"]);
});
