import { mapThree } from "../../three";
import type { Scene } from "../scene";

/** The vertices and the triangles of one part of a scene. */
export type PartSpan = { from: number; count: number; triangles: { from: number; to: number } };

/**
 * Computes smooth normals for a part that has none: at each place the sum of the normals of the triangles that meet there,
 * weighted by area. Vertices at the same place count as one.
 */
export function makeNormals(
  { positions, normals, indices }: Pick<Scene, "positions" | "normals" | "indices">,
  { from, count, triangles }: PartSpan,
): void {
  const first = sameAs(positions, from, count);
  for (let triangle = triangles.from; triangle < triangles.to; triangle++) {
    const [a, b, c] = mapThree([0, 1, 2], (corner) => indices[triangle * 3 + corner]! * 3);
    const p = (at: number) => positions[at]!;
    const [ux, uy, uz] = [p(b) - p(a), p(b + 1) - p(a + 1), p(b + 2) - p(a + 2)];
    const [vx, vy, vz] = [p(c) - p(a), p(c + 1) - p(a + 1), p(c + 2) - p(a + 2)];
    const face = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const corner of [a, b, c]) {
      const to = first[corner / 3 - from]! * 3;
      for (let k = 0; k < 3; k++) normals[to + k] = normals[to + k]! + face[k]!;
    }
  }
  for (let n = 0; n < count; n++) {
    const same = first[n]! * 3;
    const to = (from + n) * 3;
    if (same !== to) continue;
    const [x, y, z] = [normals[to]!, normals[to + 1]!, normals[to + 2]!];
    const length = Math.sqrt(x * x + y * y + z * z);
    if (length > 0) normals.set([x / length, y / length, z / length], to);
  }
  for (let n = 0; n < count; n++) {
    const same = first[n]! * 3;
    if (same !== (from + n) * 3) normals.copyWithin((from + n) * 3, same, same + 3);
  }
}

/** Finds for each vertex the first one at exactly the same place. */
function sameAs(positions: Float32Array, from: number, count: number): Uint32Array {
  let size = 16;
  while (size < count * 2) size *= 2;
  const table = new Int32Array(size).fill(-1);
  const bits = new Uint32Array(positions.buffer, positions.byteOffset, positions.length);
  const first = new Uint32Array(count);
  for (let n = 0; n < count; n++) {
    const at = (from + n) * 3;
    let slot =
      (Math.imul(bits[at]!, 0x9e3779b1) ^
        Math.imul(bits[at + 1]!, 0x85ebca77) ^
        Math.imul(bits[at + 2]!, 0xc2b2ae3d)) >>>
      0;
    slot = (slot ^ (slot >>> 15)) & (size - 1);
    for (;;) {
      const known = table[slot]!;
      if (known === -1) {
        table[slot] = from + n;
        first[n] = from + n;
        break;
      }
      const other = known * 3;
      if (
        positions[other] === positions[at] &&
        positions[other + 1] === positions[at + 1] &&
        positions[other + 2] === positions[at + 2]
      ) {
        first[n] = known;
        break;
      }
      slot = (slot + 1) & (size - 1);
    }
  }
  return first;
}
