/** The visible part of an image: the zoom, and the point (0 to 1) in the middle of the frame. */
export type Viewport = { scale: number; x: number; y: number };
/** A point or a distance in a frame, as a fraction of its width and height. */
export type Point = { x: number; y: number };

export const WHOLE: Viewport = { scale: 1, x: 0.5, y: 0.5 };
export const NEAREST = 16;
/** The zoom factor of one press of a button or key. */
export const STEP = 1.5;

const MIDDLE: Point = { x: 0.5, y: 0.5 };
const between = (least: number, most: number, value: number) => Math.min(most, Math.max(least, value));

/** The view, limited so that the image covers the frame. */
function inside({ scale, x, y }: Viewport): Viewport {
  const near = between(1, NEAREST, scale);
  const half = 0.5 / near;
  return { scale: near, x: between(half, 1 - half, x), y: between(half, 1 - half, y) };
}

/** Zooms by a factor, keeping the given point of the frame in place. */
export function zoomed(view: Viewport, factor: number, at: Point = MIDDLE): Viewport {
  const scale = between(1, NEAREST, view.scale * factor);
  const under = { x: view.x + (at.x - 0.5) / view.scale, y: view.y + (at.y - 0.5) / view.scale };
  return inside({ scale, x: under.x - (at.x - 0.5) / scale, y: under.y - (at.y - 0.5) / scale });
}

/** Pans the image with the pointer. */
export function moved(view: Viewport, by: Point): Viewport {
  return inside({ ...view, x: view.x - by.x / view.scale, y: view.y - by.y / view.scale });
}

/** Pinches with two fingers: zooms by their spread and pans with their midpoint. */
export function pinched(view: Viewport, from: [Point, Point], to: [Point, Point], aspect: number): Viewport {
  // In a frame that is wider than high, the same distance is a smaller fraction of the width.
  const spread = ([a, b]: [Point, Point]) => Math.hypot((a.x - b.x) * aspect, a.y - b.y);
  const middle = ([a, b]: [Point, Point]) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const [before, after] = [middle(from), middle(to)];
  const held = moved(view, { x: after.x - before.x, y: after.y - before.y });
  return zoomed(held, spread(to) / Math.max(spread(from), 1e-3), after);
}

/** The zoom factor of a wheel event in pixels, tuned so that a mouse and a trackpad feel alike. */
export const wheelFactor = (deltaY: number) => Math.exp(-between(-120, 120, deltaY) / 300);

/** The CSS transform of an element that fills its frame. */
export function transformOf({ scale, x, y }: Viewport): string {
  const percent = (value: number) => `${Number(((0.5 - value) * scale * 100).toFixed(4))}%`;
  return `translate(${percent(x)}, ${percent(y)}) scale(${Number(scale.toFixed(4))})`;
}

const PART = 0.15;
const KEYS: Record<string, (view: Viewport) => Viewport> = {
  "+": (view) => zoomed(view, STEP),
  "=": (view) => zoomed(view, STEP),
  "-": (view) => zoomed(view, 1 / STEP),
  "0": () => WHOLE,
  ArrowLeft: (view) => moved(view, { x: PART, y: 0 }),
  ArrowRight: (view) => moved(view, { x: -PART, y: 0 }),
  ArrowUp: (view) => moved(view, { x: 0, y: PART }),
  ArrowDown: (view) => moved(view, { x: 0, y: -PART }),
};

/** The view after a key press; null when the page should handle the key. */
export function byKey(view: Viewport, key: string): Viewport | null {
  const after = KEYS[key]?.(view);
  if (!after) return null;
  // An arrow key that cannot pan further scrolls the page.
  const isSame = after.scale === view.scale && after.x === view.x && after.y === view.y;
  return isSame && key.startsWith("Arrow") ? null : after;
}
