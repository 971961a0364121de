import { Pool } from "undici";
import { publicLookup } from "./addresses";
import { connectorOf } from "./connector";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_POOLS = 256;

type PoolRules = {
  connections: number;
  allowPrivateAddresses: boolean;
  /** True if the operator chose the origin, false if a caller did. */
  isOperators?: boolean;
};

/**
 * Opens connections to one origin. Unless private addresses are allowed, the addresses of its name are checked when the name is
 * resolved; a literal address must have been checked by the caller.
 */
export function openPool(
  origin: string,
  { connections, allowPrivateAddresses, isOperators = false }: PoolRules,
): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connectorOf({
      timeoutMs: CONNECT_TIMEOUT_MS,
      lookup: allowPrivateAddresses ? undefined : publicLookup,
      isOperators,
    }),
  });
}

/** Keeps pools by a key, which must include the address rule: a pool made under one rule never serves the other. */
export function keepPools<T extends { pool: Pool }>(): (key: string, open: () => T) => T {
  const kept = new Map<string, T>(); // oldest use first, from half of MAX_POOLS on
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
      // close() finishes the pool's requests first.
      void kept.get(oldest)?.pool.close();
      kept.delete(oldest);
    }
    return made;
  };
}
