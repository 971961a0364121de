import { Pool } from "undici";
import { publicLookup } from "./addresses";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_POOLS = 256;

/** Connections to one origin. Unless private addresses are allowed, only to addresses checked when they were resolved. */
export function openPool(origin: string, connections: number, allowPrivateAddresses: boolean): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(allowPrivateAddresses ? {} : { lookup: publicLookup }) },
  });
}

/** Keeps pools by a key that includes the address rule: a pool made under one rule never serves the other. */
export function keepPools<T extends { pool: Pool }>(): (key: string, open: () => T) => T {
  const kept = new Map<string, T>(); // oldest use first
  return (key, open) => {
    const known = kept.get(key);
    if (known) {
      if (kept.size > MAX_POOLS / 2) {
        kept.delete(key);
        kept.set(key, known);
      }
      return known;
    }
    const made = open();
    kept.set(key, made);
    const oldest = kept.keys().next().value;
    if (kept.size > MAX_POOLS && oldest !== undefined) {
      // Finishes its requests, then closes.
      void kept.get(oldest)?.pool.close();
      kept.delete(oldest);
    }
    return made;
  };
}
