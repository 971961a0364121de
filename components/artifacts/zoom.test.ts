import { expect, test } from "vitest";
import {
  byKey,
  moved,
  NEAREST,
  type Point,
  pinched,
  transformOf,
  type Viewport,
  WHOLE,
  zoomed,
} from "./zoom";

/** The position of an image point in the frame. */
const drawn = (view: Viewport, point: Point): Point => ({
  x: 0.5 + (point.x - view.x) * view.scale,
  y: 0.5 + (point.y - view.y) * view.scale,
});
const near = (a: Point, b: Point) => {
  expect(a.x).toBeCloseTo(b.x, 9);
  expect(a.y).toBeCloseTo(b.y, 9);
};

test("the point under the pointer stays in place while zooming", () => {
  const at = { x: 0.3, y: 0.8 };
  let view = zoomed(WHOLE, 4);
  const under = { x: view.x + (at.x - 0.5) / view.scale, y: view.y + (at.y - 0.5) / view.scale };
  for (const factor of [1.2, 1.7, 0.8]) {
    view = zoomed(view, factor, at);
    near(drawn(view, under), at);
  }
});

test("the image always covers the frame", () => {
  let seed = 11;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  let view = WHOLE;
  for (let round = 0; round < 2000; round++) {
    view =
      random() < 0.5
        ? zoomed(view, 0.2 + random() * 4, { x: random(), y: random() })
        : moved(view, { x: random() * 4 - 2, y: random() * 4 - 2 });
    expect(view.scale).toBeGreaterThanOrEqual(1);
    expect(view.scale).toBeLessThanOrEqual(NEAREST);
    const [start, end] = [drawn(view, { x: 0, y: 0 }), drawn(view, { x: 1, y: 1 })];
    expect(Math.max(start.x, start.y)).toBeLessThanOrEqual(1e-9);
    expect(Math.min(end.x, end.y)).toBeGreaterThanOrEqual(1 - 1e-9);
  }
});

test("the image follows the pointer", () => {
  const view = zoomed(WHOLE, 4);
  const point = { x: 0.45, y: 0.52 };
  const before = drawn(view, point);
  near(drawn(moved(view, { x: 0.1, y: -0.2 }), point), { x: before.x + 0.1, y: before.y - 0.2 });
  expect(moved(WHOLE, { x: 0.3, y: 0.3 })).toEqual(WHOLE);
});

test("doubling the distance between two fingers doubles the zoom in a frame of any shape", () => {
  const view = zoomed(WHOLE, 2);
  const from: [Point, Point] = [
    { x: 0.4, y: 0.5 },
    { x: 0.6, y: 0.5 },
  ];
  const to: [Point, Point] = [
    { x: 0.3, y: 0.5 },
    { x: 0.7, y: 0.5 },
  ];
  expect(pinched(view, from, to, 16 / 9).scale).toBeCloseTo(4, 9);
  expect(pinched(view, to, from, 16 / 9).scale).toBeCloseTo(1, 9);
  expect(pinched(view, from, [from[0], from[0]], 1).scale).toBe(1);
});

test("the CSS transform of a view scales the image and moves the view's point to the middle", () => {
  expect(transformOf(WHOLE)).toBe("translate(0%, 0%) scale(1)");
  expect(transformOf({ scale: 4, x: 0.25, y: 0.75 })).toBe("translate(100%, -100%) scale(4)");
});

test("keys zoom, pan and reset; an arrow key that cannot pan is left to the page", () => {
  const nearer = byKey(WHOLE, "+");
  expect(nearer).toMatchObject({ scale: 1.5, x: 0.5, y: 0.5 });
  expect(byKey(WHOLE, "ArrowDown")).toBeNull();
  const right = byKey(nearer ?? WHOLE, "ArrowRight");
  expect(right?.x).toBeGreaterThan(0.5);
  expect(byKey(right ?? WHOLE, "0")).toEqual(WHOLE);
  expect(byKey(WHOLE, "a")).toBeNull();
});
