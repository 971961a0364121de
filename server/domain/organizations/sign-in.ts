import { sha256Hex } from "@/server/canonical";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { isPassword } from "./passwords";

/** So many failures of one account, or from one address, within the window; then nobody gets in there for a while. */
const MOST_FAILURES = 10;
const WINDOW_MINUTES = 15;

export type SignedIn = { userId: string; email: string; displayName: string; sessionVersion: number };
/** `wrong`: unknown address or wrong password, which are the same answer in the same time. */
export type SignInRefusal = { refused: "wrong" | "too_many"; retryAfterSeconds: number | null };

/**
 * Checks an e-mail address and a password. After ten failures of one account or from one address in fifteen minutes
 * even the right password is refused until the oldest of them is that long ago.
 */
export async function verifySignIn(
  ctx: Pick<Ctx, "now">,
  credentials: { email: string; password: string; address: string },
): Promise<SignedIn | SignInRefusal> {
  const email = credentials.email.trim().toLowerCase();
  const subjects = [`account:${sha256Hex(email)}`, `address:${credentials.address}`];
  const now = ctx.now();
  // The try is written down before it is judged, so that many at once cannot slip under the limit together.
  const entries = await noteFailure(subjects, now);
  const retryAfterSeconds = await secondsUntilAllowed(subjects, now);
  if (retryAfterSeconds > 0) {
    await forget(entries); // a refused try is not a guess
    return { refused: "too_many", retryAfterSeconds };
  }
  const { rows } = await pool.query<{
    id: string;
    email: string;
    display_name: string;
    password_hash: string | null;
    session_version: number;
  }>("SELECT id, email, display_name, password_hash, session_version FROM user_account WHERE email = $1", [
    email,
  ]);
  const row = rows[0];
  const isRight = await isPassword(credentials.password, row?.password_hash ?? null);
  if (!row || !isRight) return { refused: "wrong", retryAfterSeconds: null };
  await forget(entries);
  // The account is its owner's again. The address keeps its failures: one good account must not pay for guesses at others.
  await pool.query("DELETE FROM sign_in_failure WHERE subject = $1", [subjects[0]]);
  return {
    userId: row.id,
    email: row.email,
    displayName: row.display_name,
    sessionVersion: row.session_version,
  };
}

/** The person an identity provider vouches for, by verified e-mail address; null when nobody here has it. */
export async function findSignIn(verifiedEmail: string): Promise<SignedIn | null> {
  const { rows } = await pool.query<SignedIn>(
    `SELECT id AS "userId", email, display_name AS "displayName", session_version AS "sessionVersion"
     FROM user_account WHERE email = $1`,
    [verifiedEmail.trim().toLowerCase()],
  );
  return rows[0] ?? null;
}

async function noteFailure(subjects: string[], now: Date): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(
    "INSERT INTO sign_in_failure (subject, at) SELECT unnest($1::text[]), $2 RETURNING id",
    [subjects, now],
  );
  return rows.map((row) => row.id);
}

async function forget(entries: number[]): Promise<void> {
  await pool.query("DELETE FROM sign_in_failure WHERE id = ANY($1)", [entries]);
}

/** Zero: allowed now, this try included. */
async function secondsUntilAllowed(subjects: string[], now: Date): Promise<number> {
  const { rows } = await pool.query<{ opens_at: Date }>(
    `SELECT max(at) + make_interval(mins => $4) AS opens_at FROM (
       SELECT subject, at, row_number() OVER (PARTITION BY subject ORDER BY at DESC, id DESC) AS place
       FROM sign_in_failure WHERE subject = ANY($1) AND at > $2::timestamptz - make_interval(mins => $4)
     ) AS recent WHERE place = $3 + 1`,
    [subjects, now, MOST_FAILURES, WINDOW_MINUTES],
  );
  const opensAt = rows[0]?.opens_at;
  return opensAt ? Math.max(1, Math.ceil((opensAt.getTime() - now.getTime()) / 1000)) : 0;
}

/** Deletes failures that no limit looks at any more. */
export async function pruneSignInFailures(now: Date): Promise<void> {
  await pool.query("DELETE FROM sign_in_failure WHERE at < $1::timestamptz - interval '1 day'", [now]);
}
