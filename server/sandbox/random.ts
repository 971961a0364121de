import { createHash } from "node:crypto";

/** A stream of numbers in [0, 1) that depends on its seed alone. */
export type Random = () => number;

export function randomFrom(seed: string): Random {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  // mulberry32: small, fast, and the same everywhere.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pickOne = <T>(random: Random, items: readonly [T, ...T[]]): T =>
  items[Math.floor(random() * items.length)] ?? items[0];
