import type { Ctx } from "@/server/domain/ctx";
import { signInFailure } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { Fault, fail } from "@/server/platform/errors/errors";
import { networkOf } from "@/server/platform/network-of";
import { column, int4, maybe, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/**
 * Failures of one subject (an account or a network) within the window, after which its attempts are refused.
 */
const MOST_FAILURES = 10;
const WINDOW_MINUTES = 15;

/**
 * Runs work that a guess could open. After ten NotFound faults of this kind in fifteen minutes from one
 * network, or by one signed-in person, attempts are refused, even the right guess.
 */
export async function enforceBruteForceLimit<T>(ctx: Ctx, kind: string, work: () => Promise<T>): Promise<T> {
  const { address, principal } = ctx;
  const subjects = [
    ...networkSubjects(kind, networkOf(address ?? "")),
    ...(principal.kind === "human_session" ? [`${kind}:${principal.id}`] : []),
  ];
  const entries = await countTry(subjects, ctx.now());
  try {
    const done = await work();
    await deleteSignInFailures(entries);
    return done;
  } catch (error) {
    if (!(error instanceof Fault && error.code === "NotFound")) await deleteSignInFailures(entries);
    throw error;
  }
}

/**
 * Records an attempt as a failure before its outcome is known, so that concurrent attempts cannot pass the
 * limit together; the caller deletes the entries if the attempt was no failure. Throws RateLimited if one of
 * the subjects has failed too often.
 */
export async function countTry(subjects: string[], now: Date): Promise<number[]> {
  const entries = await recordSignInFailure(subjects, now);
  const retryAfterSeconds = await secondsUntilAllowed(subjects, now);
  if (retryAfterSeconds === 0) return entries;
  await deleteSignInFailures(entries); // a refused attempt is not a guess
  fail("RateLimited", "Too many attempts. Wait a few minutes, then try again.", { retryAfterSeconds });
}

const insertFailures = statement("sign_in_failure.insert", {
  params: { subjects: texts, now: timestamptz },
  row: { id: signInFailure.id },
  sql: `INSERT INTO sign_in_failure (subject, at) SELECT unnest($subjects::text[]), $now RETURNING id`,
});

export async function recordSignInFailure(subjects: string[], now: Date): Promise<number[]> {
  const rows = await insertFailures.all(pool, { subjects, now });
  return rows.map((row) => row.id);
}

const deleteFailures = statement("sign_in_failure.delete.entries", {
  params: { entries: column<number[]>("int8[]") },
  sql: `DELETE FROM sign_in_failure WHERE id = ANY($entries)`,
});

export async function deleteSignInFailures(entries: number[]): Promise<void> {
  await deleteFailures.run(pool, { entries });
}

const deleteFailuresOf = statement("sign_in_failure.delete.subject", {
  params: { subject: text },
  sql: `DELETE FROM sign_in_failure WHERE subject = $subject`,
});

/** Deletes all failures of a subject that has proven its identity. */
export async function forgetSubject(subject: string): Promise<void> {
  await deleteFailuresOf.run(pool, { subject });
}

/**
 * Subjects that count attempts of one kind from one network. Empty if the network is unknown (no proxy
 * reports it): everyone would then share one subject, and one stranger's failures would lock out all.
 */
const networkSubjects = (kind: string, network: string) => (network === "" ? [] : [`${kind}:${network}`]);

/** Subjects that count failed sign-ins from a network, by passwords and codes together. */
export const addressSubjects = (network: string) => networkSubjects("address", network);

const readOpening = statement("sign_in_failure.read.opening", {
  params: { subjects: texts, now: timestamptz, most: int4, minutes: int4 },
  row: { opens_at: maybe(timestamptz) },
  sql: `SELECT max(at) + make_interval(mins => $minutes) AS opens_at FROM (
       SELECT subject, at, row_number() OVER (PARTITION BY subject ORDER BY at DESC, id DESC) AS place
       FROM sign_in_failure WHERE subject = ANY($subjects) AND at > $now::timestamptz - make_interval(mins => $minutes)
     ) AS recent WHERE place = $most + 1`,
});

/** Seconds until an attempt is allowed; 0 if allowed now. The attempt's own entry must be written before. */
export async function secondsUntilAllowed(subjects: string[], now: Date): Promise<number> {
  const row = await readOpening.first(pool, { subjects, now, most: MOST_FAILURES, minutes: WINDOW_MINUTES });
  const opensAt = row?.opens_at;
  return opensAt ? Math.max(1, Math.ceil((opensAt.getTime() - now.getTime()) / 1000)) : 0;
}
