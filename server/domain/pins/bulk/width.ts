/*
 * The number of items of a bulk that run at once. It falls while the provider refuses for lack of capacity,
 * and rises by one at a time once the provider accepts submissions. This file only decides; `change` updates
 * the row.
 */

/** The share of refusals among the last submissions that makes a spike. */
const SPIKE = 1 / 4;
/**
 * A spike needs this many outcomes, or as many as the width if it is smaller: one refusal among very few says
 * little.
 */
const LEAST_SENT = 4;

export type Width = {
  /** Records the outcome of one submission. */
  note(outcome: "taken" | "refused"): void;
  readonly current: number;
};

/**
 * Halves the width on a spike of refusals, never below one, and raises it by one after a full round of
 * outcomes without a spike, up to the requested width. One spike halves it once, because outcomes of
 * submissions that left before the change are ignored.
 */
export function adaptiveWidth(asked: number, now: number, change: (by: "halve" | "raise") => void): Width {
  let current = now;
  let taken = 0;
  let refused = 0;
  /** The number of outcomes to ignore, because their submissions left before the last halving. */
  let stale = 0;

  function move(by: "halve" | "raise") {
    taken = 0;
    refused = 0;
    if (by === "halve" ? current === 1 : current === asked) return;
    stale = by === "halve" ? current : 0;
    current = by === "halve" ? Math.floor(current / 2) : current + 1;
    change(by);
  }

  return {
    note(outcome) {
      if (stale > 0) {
        stale--;
        return;
      }
      if (outcome === "taken") taken++;
      else refused++;
      const sent = taken + refused;
      const isSpike = refused > 0 && sent >= Math.min(LEAST_SENT, current) && refused >= sent * SPIKE;
      if (isSpike) move("halve");
      else if (sent >= current) move("raise");
    },
    get current() {
      return current;
    },
  };
}
