/** Work on more than this many bytes or characters is done in pieces, with turns for others between them. */
export const LARGE = 64 * 1024;

/** Lets other work have its turn before the next piece. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that work goes on before others have their turn. */
const TURN_MS = 5;

/** Runs the generator to its end; others have their turn every few milliseconds, wherever it yields. */
export async function inTurns<T>(work: Generator<undefined, T>): Promise<T> {
  let since = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - since < TURN_MS) continue;
    await turn();
    since = performance.now();
  }
}
