/**
 * A cached caller is not used longer than this after its change was announced, even if the notice is lost.
 */
export const MOST_STALE_MS = 1_000;
/**
 * Even unchanged entries are read again after this time, because someone may have changed the row by hand
 * without announcing it.
 */
export const LONGEST_MS = 10_000;
const MOST_ENTRIES = 50_000;

/**
 * Increases with every change of keys, people or projects: a value read before the change is not used after
 * it.
 */
let generation = 0;
/** Caching is allowed only while this process receives changes. */
let isListening = false;
/** Every change announced before this moment has been received, so cached values were true then. */
let currentAtMs = Number.NEGATIVE_INFINITY;

const caches: Map<string, unknown>[] = [];

/** Empties all caches; a read in progress is repeated. */
export function forgetAll(): void {
  generation++;
  for (const cache of caches) cache.clear();
}

/** Sets whether this process receives changes. While it does not, every read goes to the database. */
export function setListening(listening: boolean): void {
  isListening = listening;
  currentAtMs = Number.NEGATIVE_INFINITY;
  forgetAll();
}

/** Records that every change announced before this moment (of `performance.now`) has been received. */
export function setCurrent(atMs: number): void {
  currentAtMs = Math.max(currentAtMs, atMs);
}

type Entry<Value> = { value: Promise<Value>; readAt: number };

/**
 * Caches reads for at most a second, or for ten if the process confirmed within the last second that it has
 * received every change. Concurrent reads of one name share one query. A failed read and a value that
 * `isKept` rejects are not cached.
 */
export function remembered<Value>(
  read: (name: string) => Promise<Value>,
  {
    nowMs = () => performance.now(),
    isKept = () => true,
  }: { nowMs?: () => number; isKept?: (value: Value) => boolean } = {},
): (name: string) => Promise<Value> {
  const cache = new Map<string, Entry<Value>>();
  caches.push(cache);

  async function readCurrent(name: string): Promise<Value> {
    for (;;) {
      const before = generation;
      const value = await read(name);
      // A change announced during the read may be missing from its result, so the read is repeated.
      if (before === generation || !isListening) return value;
    }
  }

  function isUsable({ readAt }: Entry<Value>, now: number): boolean {
    const trueAt = Math.max(readAt, currentAtMs);
    return now - trueAt < MOST_STALE_MS && now - readAt < LONGEST_MS;
  }

  return (name) => {
    if (!isListening) return read(name);
    const known = cache.get(name);
    const now = nowMs();
    if (known && isUsable(known, now)) return known.value;
    if (cache.size >= MOST_ENTRIES) cache.clear();
    const entry = { value: readCurrent(name), readAt: now };
    cache.set(name, entry);
    const drop = () => {
      if (cache.get(name) === entry) cache.delete(name);
    };
    entry.value.then((value) => isKept(value) || drop(), drop);
    return entry.value;
  };
}
