/** Nothing remembered about a caller is used longer than this after its change was announced, even if the notice is lost. */
export const MOST_STALE_MS = 1_000;
/** Even what no one changed is read anew after this: somebody may have changed it by hand, without announcing it. */
export const LONGEST_MS = 10_000;
const MOST_ENTRIES = 50_000;

/** Raised by every change of keys, people or projects: what was read before it is not used after it. */
let generation = 0;
/** Remembering is allowed only while this process hears of changes. */
let isListening = false;
/** Every change announced before this moment has been heard of: what is remembered was true then. */
let currentAtMs = Number.NEGATIVE_INFINITY;

const caches: Map<string, unknown>[] = [];

/** Forgets everything at once; a read under way does not count as new. */
export function forgetAll(): void {
  generation++;
  for (const cache of caches) cache.clear();
}

/** Says whether this process hears of changes. While it does not, every read goes to the database. */
export function setListening(listening: boolean): void {
  isListening = listening;
  currentAtMs = Number.NEGATIVE_INFINITY;
  forgetAll();
}

/** Says that every change announced before this moment (of `performance.now`) has been heard of. */
export function setCurrent(atMs: number): void {
  currentAtMs = Math.max(currentAtMs, atMs);
}

type Entry<Value> = { value: Promise<Value>; readAt: number };

/**
 * Reads through a memory: of at most a second, and of ten where this process made sure within the last second that it has
 * heard of every change. Reads of one name at one time share one query. A failed read is not remembered, nor is what is
 * not worth keeping.
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
      // A change that was announced meanwhile may or may not be in what was read.
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
