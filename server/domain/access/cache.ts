/** Nothing remembered about a caller is older than this, even when a notice of a change was missed. */
export const MOST_STALE_MS = 1_000;
const MOST_ENTRIES = 50_000;

/** Raised by every change of keys, people or projects: what was read before it is not used after it. */
let generation = 0;
/** Remembering is allowed only while this process hears of changes. */
let isListening = false;

const caches: Map<string, unknown>[] = [];

/** Forgets everything at once; a read under way does not count as new. */
export function forgetAll(): void {
  generation++;
  for (const cache of caches) cache.clear();
}

/** Says whether this process hears of changes. While it does not, every read goes to the database. */
export function setListening(listening: boolean): void {
  isListening = listening;
  forgetAll();
}

type Entry<Value> = { value: Promise<Value>; readAt: number };

/**
 * Reads through a memory of at most a second. Reads of one name at one time share one query. A failed read is not
 * remembered.
 */
export function remembered<Value>(
  read: (name: string) => Promise<Value>,
  nowMs: () => number = () => performance.now(),
): (name: string) => Promise<Value> {
  const cache = new Map<string, Entry<Value>>();
  caches.push(cache);

  async function readCurrent(name: string): Promise<Value> {
    for (;;) {
      const before = generation;
      const value = await read(name);
      // A change that was announced meanwhile may or may not be in what was read.
      if (before === generation || !isListening) return value;
    }
  }

  return (name) => {
    if (!isListening) return read(name);
    const known = cache.get(name);
    if (known && nowMs() - known.readAt < MOST_STALE_MS) return known.value;
    if (cache.size >= MOST_ENTRIES) cache.clear();
    const entry = { value: readCurrent(name), readAt: nowMs() };
    cache.set(name, entry);
    entry.value.catch(() => {
      if (cache.get(name) === entry) cache.delete(name);
    });
    return entry.value;
  };
}
