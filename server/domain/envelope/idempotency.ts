import { fail } from "@/server/platform/errors/errors";

/** What an idempotency key belongs to, with the hash of its first request. */
export type First = { id: string; hash: string | null };

/** The first one, where its request had this hash. For another request the key is IdempotencyConflict with the first one's id. */
export function sameFirst<F extends First>(first: F, hash: string, what = "request"): F {
  if (first.hash === hash) return first;
  fail("IdempotencyConflict", `This idempotency key was already used for a different ${what}.`, {
    jobId: first.id,
  });
}

/**
 * Admits a request once: what its key belongs to already, else what `admit` makes, which answers null where the key was
 * taken meanwhile. What was admitted once stays admitted, whatever would refuse it now. Without a key nothing is looked for.
 */
export async function admitOnce<F extends First, Fresh>(
  { key, hash, what }: { key: string | null; hash: string; what?: string },
  find: (key: string) => Promise<F | null>,
  admit: () => Promise<Fresh | null>,
): Promise<{ first: F } | { fresh: Fresh }> {
  const look = async () => {
    const first = key === null ? null : await find(key);
    return first && sameFirst(first, hash, what);
  };
  const before = await look();
  if (before) return { first: before };
  let refusal: unknown = new Error("an idempotency key is taken, but what it belongs to does not exist");
  try {
    const fresh = await admit();
    if (fresh !== null) return { fresh };
  } catch (cause) {
    refusal = cause;
  }
  const meanwhile = await look();
  if (meanwhile) return { first: meanwhile };
  throw refusal;
}
