import { fail } from "@/server/platform/errors/errors";
import { isSameDigest } from "@/server/verify";
import { type Holder, holderOf, type SentKey, spellingsOf } from "./key-spellings";

/** The resource that an idempotency key belongs to, and the hash of its first request. */
export type First = { id: string; hash: string | null };

/** The hash of a request, or every hash that it may be stored with. */
type Hashes = string | readonly string[];

/** True if the first request had one of these hashes. A stored hash may lack the prefix `v1:`. */
export const isSameRequest = (first: First, hashes: Hashes) =>
  [hashes].flat().some((hash) => isSameDigest(first.hash, hash));

/**
 * Returns the first resource if its request had one of these hashes. Throws `IdempotencyConflict` with its id for any
 * other request.
 */
export function sameFirst<F extends First>(first: F, hashes: Hashes, what = "request"): F {
  if (isSameRequest(first, hashes)) return first;
  fail("IdempotencyConflict", `This idempotency key was already used for a different ${what}.`, {
    jobId: first.id,
  });
}

/**
 * Admits a request once. Returns the resource that its key already belongs to, or else what `admit` creates under the
 * given spelling of the key; `admit` returns null if that spelling was taken meanwhile. A resource that was admitted
 * once is returned even if the request would now be refused. Without a key nothing is looked up. `environment` is null
 * for resources that belong to none.
 */
export async function admitOnce<H extends First & Holder, Fresh>(
  {
    key,
    hash,
    environment,
    what,
  }: { key: SentKey | null; hash: string; environment: string | null; what?: string },
  find: (spellings: string[]) => Promise<H[]>,
  admit: (spelling: string | null) => Promise<Fresh | null>,
): Promise<{ first: H } | { fresh: Fresh }> {
  const look = async () =>
    key === null
      ? { first: null, spelling: null }
      : holderOf(await find(spellingsOf(key, environment)), key, environment);
  let refusal: unknown = new Error("an idempotency key is taken, but what it belongs to does not exist");
  const tried: (string | null)[] = [];
  // A key that was taken meanwhile is looked up again. If another environment took it, the request is
  // admitted under the form of the key that is specific to its own environment.
  for (;;) {
    const { first, spelling } = await look();
    if (first) return { first: sameFirst(first, hash, what) };
    if (tried.includes(spelling)) throw refusal;
    tried.push(spelling);
    try {
      const fresh = await admit(spelling);
      if (fresh !== null) return { fresh };
    } catch (cause) {
      refusal = cause;
    }
  }
}
