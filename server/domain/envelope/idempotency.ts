import { fail } from "@/server/platform/errors/errors";
import { isSameDigest } from "@/server/verify";
import { type Holder, holderOf, type SentKey, spellingsOf } from "./key-spellings";

/** What an idempotency key belongs to, with the hash of its first request. */
export type First = { id: string; hash: string | null };

/** The hash of a request, or each one that it may be stored with. */
type Hashes = string | readonly string[];

/** Is it the same request? Hashes are stored with `v1:` before them, or without. */
export const isSameRequest = (first: First, hashes: Hashes) =>
  [hashes].flat().some((hash) => isSameDigest(first.hash, hash));

/** The first one, where its request had this hash. For another request the key is IdempotencyConflict with the first one's id. */
export function sameFirst<F extends First>(first: F, hashes: Hashes, what = "request"): F {
  if (isSameRequest(first, hashes)) return first;
  fail("IdempotencyConflict", `This idempotency key was already used for a different ${what}.`, {
    jobId: first.id,
  });
}

/**
 * Admits a request once: what its key belongs to already, else what `admit` makes under the spelling it is given, which answers
 * null where that was taken meanwhile. What was admitted once stays admitted, whatever would refuse it now. Without a key
 * nothing is looked for. `environment`: null for what has none.
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
  // A second time where another environment took the key meanwhile.
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
