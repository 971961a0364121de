import { expect, test } from "vitest";
import { Bag } from "./bag";

const itemsOf = <Item>(bag: Bag<Item>) => bag.all().map(({ item }) => item);

test("what goes in comes out by its place, whatever came and went between, and only once", () => {
  const bag = new Bag<string>();
  const [a, b, c] = [bag.add("a"), bag.add("b"), bag.add("c")];
  bag.remove(a);
  expect(itemsOf(bag).sort()).toEqual(["b", "c"]);
  bag.remove(a);
  expect(bag.size).toBe(2);
  bag.remove(c);
  expect(itemsOf(bag)).toEqual(["b"]);
  const again = bag.add("a");
  bag.remove(b);
  expect(itemsOf(bag)).toEqual(["a"]);
  expect(bag.some((item) => item === "b")).toBe(false);
  bag.remove(again);
  expect(bag.size).toBe(0);
});

test("things may go while those that were there are looked at", () => {
  const bag = new Bag<number>();
  for (let number = 0; number < 5; number++) bag.add(number);
  const seen = bag.all().map((held) => {
    bag.remove(held);
    return held.item;
  });
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(bag.size).toBe(0);
});
