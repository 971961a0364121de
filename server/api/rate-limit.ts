import type { Principal } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { networkOf } from "@/server/platform/network-of";
import { env, isProduction } from "@/server/platform/settings/env";

/** The most callers tracked at once; beyond it, the least recently seen starts again with a full bucket. */
const MOST_CALLERS = 100_000;

type Bucket = { tokens: number; at: number };

export type Limiter = {
  /** Takes one token of this caller and writes the RateLimit headers. Throws RateLimited (429). */
  take(caller: string, headers: Record<string, string>): void;
  /** True if this caller would be refused now. */
  isSpent(caller: string): boolean;
  /** The caller's remaining requests, as the headers report them; takes no token. */
  standing(caller: string): RateStanding;
};

/** Requests per minute, how many may be sent now, and the seconds until the whole burst is available again. */
export type RateStanding = { perMinute: number; burst: number; remaining: number; resetSeconds: number };

/**
 * A token bucket per caller: a number of requests per minute, with a burst of a third of that. `share` is the part of the
 * limit that this process grants: one divided by the number of live web processes. `RateLimit-Limit` is the whole limit;
 * the policy and the error state the part, because that is what the caller experiences.
 */
export function limiter(
  perMinute: number,
  { share = () => 1, nowMs = () => performance.now() }: { share?: () => number; nowMs?: () => number } = {},
): Limiter {
  const buckets = new Map<string, Bucket>();

  function filled(caller: string): Bucket & { rate: number; burst: number; perMs: number } {
    const rate = perMinute * share();
    const burst = Math.max(1, rate / 3);
    const perMs = rate / 60_000;
    const now = nowMs();
    const known = buckets.get(caller);
    const tokens = known ? Math.min(burst, known.tokens + Math.max(0, now - known.at) * perMs) : burst;
    return { tokens, at: now, rate, burst, perMs };
  }

  return {
    take(caller, headers) {
      const { tokens, at, rate, burst, perMs } = filled(caller);
      const left = tokens >= 1 ? tokens - 1 : tokens;
      // Removed and added again, so that the map is ordered by last use.
      if (!buckets.delete(caller) && buckets.size >= MOST_CALLERS) {
        buckets.delete(buckets.keys().next().value!); // full, so it has a first key
      }
      buckets.set(caller, { tokens: left, at });
      const whole = { rate: Math.max(1, Math.floor(rate)), burst: Math.floor(burst) };
      headers["ratelimit-limit"] = String(perMinute);
      headers["ratelimit-policy"] = `${whole.rate};w=60;burst=${whole.burst}`;
      headers["ratelimit-remaining"] = String(Math.floor(left));
      headers["ratelimit-reset"] = String(Math.ceil((burst - left) / perMs / 1000));
      if (tokens >= 1) return;
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perMs / 1000));
      fail(
        "RateLimited",
        `Too many requests: the limit is ${whole.rate} per minute, with a burst of ${whole.burst}. Retry after ${retryAfterSeconds} s.`,
        { retryAfterSeconds },
      );
    },
    isSpent: (caller) => filled(caller).tokens < 1,
    standing(caller) {
      const { tokens, rate, burst, perMs } = filled(caller);
      return {
        perMinute: Math.max(1, Math.floor(rate)),
        burst: Math.floor(burst),
        remaining: Math.floor(tokens),
        resetSeconds: Math.ceil((burst - tokens) / perMs / 1000),
      };
    },
  };
}

let liveProcesses = 1;

/** Sets how many web processes share the limits; each grants its part. */
export function setLiveProcesses(count: number): void {
  liveProcesses = Math.max(1, count);
}

// Limits are ten times as high in development, where one person's tests act as many callers.
const factor = isProduction ? 1 : 10;
const share = () => 1 / liveProcesses;

export const keyLimit = limiter(env.RATE_LIMIT_KEY_PER_MINUTE * factor, { share });
/**
 * All embed sessions of a project together have the limit of this many keys, because a key may create any number of
 * sessions.
 */
const EMBEDS_PER_KEY = 10;
export const embedsLimit = limiter(env.RATE_LIMIT_KEY_PER_MINUTE * EMBEDS_PER_KEY * factor, { share });
export const addressLimit = limiter(env.RATE_LIMIT_ANONYMOUS_PER_MINUTE * factor, { share });

/**
 * Counts a request against its caller, or against the address if the caller is anonymous; a request of an embed session
 * also against all sessions of its project. Throws RateLimited.
 */
export function countRequest(
  principal: Pick<Principal, "kind" | "id"> & { projectId?: string | null },
  address: string,
  headers: Record<string, string>,
): void {
  const { kind, id, projectId } = principal;
  if (kind === "anonymous") {
    addressLimit.take(networkOf(address), headers);
    return;
  }
  // The session's own limit comes first, so that a session that sends too much takes nothing from the others.
  keyLimit.take(id, headers);
  if (kind !== "panel_session" || !projectId) return;
  const ofAll = {};
  try {
    embedsLimit.take(projectId, ofAll);
  } catch (error) {
    Object.assign(headers, ofAll);
    throw error;
  }
}

type Places = {
  /** Takes a place for this caller and returns the function that frees it. Throws RateLimited (429). */
  take(caller: string): () => void;
};

/**
 * A limit of concurrent places per caller, for connections that stay open. Each live process grants its part, and at
 * least one place.
 */
export function places(
  most: number,
  of: string,
  { share: part = share }: { share?: () => number } = {},
): Places {
  const taken = new Map<string, number>();
  return {
    take(caller) {
      const open = taken.get(caller) ?? 0;
      if (open >= Math.max(1, Math.floor(most * part()))) {
        fail(
          "RateLimited",
          `At most ${most} ${of} may be open at once for one key. Close one or wait until one ends, then retry.`,
          {
            retryAfterSeconds: 5,
          },
        );
      }
      taken.set(caller, open + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (taken.get(caller) ?? 1) - 1;
        if (left > 0) taken.set(caller, left);
        else taken.delete(caller);
      };
    },
  };
}
