/*
 * How many items of a bulk run at once: fewer while its provider refuses for want of capacity, one more at a time once it takes
 * what it is sent. The rule alone; `change` changes the row.
 */

/** A spike: this share of what was sent last was refused. */
const SPIKE = 1 / 4;
/** One refusal among very few says little. */
const LEAST_SENT = 4;

export type Width = {
  /** What became of one submission. */
  note(outcome: "taken" | "refused"): void;
  readonly current: number;
};

/**
 * Halves the width on a spike of refusals, not below one, and raises it by one for each round of as many submissions
 * that were taken, up to the requested width. Refusals of one spike halve once: those that were on their way together are
 * looked at together.
 */
export function adaptiveWidth(asked: number, now: number, change: (by: "halve" | "raise") => void): Width {
  let current = now;
  let taken = 0;
  let refused = 0;
  /** Answers to what was sent before the last change, which say nothing about the width now. */
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
