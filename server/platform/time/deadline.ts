/**
 * Aborts once this many milliseconds have passed, with a TimeoutError, or when `signal` does. AbortSignal.timeout cannot be
 * joined with another signal by AbortSignal.any: nothing holds the timeout then, and once collected (Node 20) it never fires.
 */
export function deadline(ms: number, signal?: AbortSignal): AbortSignal {
  if (signal?.aborted) return signal;
  const both = new AbortController();
  const leave = () => {
    clearTimeout(timer);
    both.abort(signal?.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener("abort", leave);
    both.abort(new DOMException("The time is up.", "TimeoutError"));
  }, ms).unref();
  signal?.addEventListener("abort", leave, { once: true });
  return both.signal;
}
