/** How time passes for an execution: durable moments, durations that no change of the wall clock can bend, and alarms. */
export type Clock = {
  now(): Date;
  /** Milliseconds since any fixed moment. */
  elapsedMs(): number;
  /** Calls once after so long; the answer calls it off. */
  after(ms: number, call: () => void): () => void;
};

/** The clock of this process, with durable moments as `now` tells them. */
export const clockOf = ({ now }: Pick<Clock, "now">): Clock => ({
  now,
  elapsedMs: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
});

/** Waits so long, or until the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((wake) => {
    if (signal?.aborted) return wake();
    const done = () => {
      callOff();
      signal?.removeEventListener("abort", done);
      wake();
    };
    const callOff = clock.after(ms, done);
    signal?.addEventListener("abort", done);
  });
}
