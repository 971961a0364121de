import { type Projection, SAMPLES, STEPS } from "./project";
import { Refused } from "./request";
import type { Scene } from "./scene";

/** Rows of pixels that are drawn at a time, so that a band's data stays in the processor's cache. */
export const BAND_ROWS = 16;
const BAND_STEPS = BAND_ROWS * SAMPLES * STEPS;
/** Limit of all list entries together, which only a heap of triangles across the whole picture exceeds. */
const MOST_ENTRIES = 60_000_000;

/** The triangles that reach into each band: solid ones, and transparent ones (`clear`). */
export type Bands = { solid: Lists; clear: Lists };
type Lists = { starts: Uint32Array; triangles: Uint32Array };

/**
 * Sorts the triangles that face the camera or are double-sided into bands, transparent ones from back to front. Throws `Refused`
 * if the lists grow too long.
 */
export function sortIntoBands(scene: Scene, projection: Projection): Bands {
  const { indices, surfaceOf, surfaces, triangleCount } = scene;
  const { x, y, near, height } = projection;
  const bandCount = Math.ceil(height / BAND_ROWS);
  const solid: number[] | Uint32Array = new Uint32Array(triangleCount);
  const clear: number[] = [];
  let solidCount = 0;
  for (let triangle = 0; triangle < triangleCount; triangle++) {
    const a = indices[triangle * 3]!;
    const b = indices[triangle * 3 + 1]!;
    const c = indices[triangle * 3 + 2]!;
    const [ax, ay] = [x[a]!, y[a]!];
    const area = (x[b]! - ax) * (y[c]! - ay) - (x[c]! - ax) * (y[b]! - ay);
    if (area === 0) continue;
    const surface = surfaces[surfaceOf[triangle]!];
    // Rows count downward, so a triangle seen from its front turns the other way round.
    if (!surface || (area > 0 && !surface.doubleSided)) continue;
    if (surface.alphaMode === "BLEND") clear.push(triangle);
    else solid[solidCount++] = triangle;
  }
  const depth = (triangle: number) =>
    near[indices[triangle * 3]!]! + near[indices[triangle * 3 + 1]!]! + near[indices[triangle * 3 + 2]!]!;
  const depths = new Map(clear.map((triangle) => [triangle, depth(triangle)]));
  clear.sort((one, other) => depths.get(one)! - depths.get(other)! || one - other);
  const lists = (triangles: Uint32Array) => listsOf(triangles, indices, y, bandCount);
  return { solid: lists(solid.subarray(0, solidCount)), clear: lists(Uint32Array.from(clear)) };
}

function listsOf(triangles: Uint32Array, indices: Uint32Array, y: Int32Array, bandCount: number): Lists {
  const starts = new Uint32Array(bandCount + 1);
  const each = (visit: (band: number, triangle: number) => void) => {
    for (let n = 0; n < triangles.length; n++) {
      const triangle = triangles[n]!;
      const a = y[indices[triangle * 3]!]!;
      const b = y[indices[triangle * 3 + 1]!]!;
      const c = y[indices[triangle * 3 + 2]!]!;
      const first = Math.max(0, Math.floor(Math.min(a, b, c) / BAND_STEPS));
      const last = Math.min(bandCount - 1, Math.floor(Math.max(a, b, c) / BAND_STEPS));
      for (let band = first; band <= last; band++) visit(band, triangle);
    }
  };
  let total = 0;
  each((band) => {
    starts[band + 1] = starts[band + 1]! + 1;
    total++;
  });
  if (total > MOST_ENTRIES)
    throw new Refused("The model has too many large overlapping triangles to be drawn.");
  for (let band = 0; band < bandCount; band++) starts[band + 1] = starts[band + 1]! + starts[band]!;
  const next = starts.slice();
  const sorted = new Uint32Array(total);
  each((band, triangle) => {
    const to = next[band]!;
    sorted[to] = triangle;
    next[band] = to + 1;
  });
  return { starts, triangles: sorted };
}
