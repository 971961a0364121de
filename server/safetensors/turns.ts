import { setImmediate as breathe } from "node:timers/promises";

/** How long a header is worked on before others have their turn. */
const TURN_MS = 5;

/** Runs the work to its end; others have their turn every few milliseconds. */
export async function inTurns<T>(work: Generator<undefined, T>): Promise<T> {
  let turn = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - turn < TURN_MS) continue;
    await breathe();
    turn = performance.now();
  }
}
