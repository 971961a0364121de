/**
 * The time source of an execution: moments to store, durations that ignore changes of the wall clock, and
 * timers.
 */
export type Clock = {
  now(): Date;
  /** Milliseconds since an arbitrary fixed moment. */
  elapsedMs(): number;
  /** Calls once after this delay; the returned function cancels the call. */
  after(ms: number, call: () => void): () => void;
};

/** The monotonic clock and the timers of this process, with the moments that `now` returns. */
export const clockOf = ({ now }: Pick<Clock, "now">): Clock => ({
  now,
  elapsedMs: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
});

/** Resolves after this delay, or when the signal is aborted. */
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
