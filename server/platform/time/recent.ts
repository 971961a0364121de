const MOST_STALE_MS = 1_000;
const MOST_ENTRIES = 10_000;

/**
 * Wraps a read with a memory of at most a second, for values that may be that old without harm. Reads of one name at one time
 * share their result; a failed read is not remembered.
 */
export function recent<Args extends unknown[], Value>(
  nameOf: (...args: Args) => string,
  read: (...args: Args) => Promise<Value>,
  nowMs: () => number = () => performance.now(),
): (...args: Args) => Promise<Value> {
  const known = new Map<string, { value: Promise<Value>; readAt: number }>();
  return (...args) => {
    const name = nameOf(...args);
    const entry = known.get(name);
    if (entry && nowMs() - entry.readAt < MOST_STALE_MS) return entry.value;
    if (known.size >= MOST_ENTRIES) known.clear();
    const fresh = { value: read(...args), readAt: nowMs() };
    known.set(name, fresh);
    fresh.value.catch(() => {
      if (known.get(name) === fresh) known.delete(name);
    });
    return fresh.value;
  };
}
