import { sha256Hex } from "@/server/canonical";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { forget, noteFailure, secondsUntilAllowed } from "./guesses";
import { isPassword } from "./passwords";

export type SignedIn = {
  userId: string;
  email: string;
  displayName: string;
  sessionVersion: number;
  /** A code of their second factor is asked for before they have a session. */
  needsCode: boolean;
};
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
  const subjects = signInSubjects(email, credentials.address);
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
    needs_code: boolean;
  }>(
    `SELECT id, email, display_name, password_hash, session_version, second_factor_at IS NOT NULL AS needs_code
     FROM user_account WHERE email = $1`,
    [email],
  );
  const row = rows[0];
  const isRight = await isPassword(credentials.password, row?.password_hash ?? null);
  if (!row || !isRight) return { refused: "wrong", retryAfterSeconds: null };
  await forget(entries);
  // Wrong codes are failures, too: who knows the password alone must not wipe them out.
  if (!row.needs_code) await forgetFailures(email);
  return {
    userId: row.id,
    email: row.email,
    displayName: row.display_name,
    sessionVersion: row.session_version,
    needsCode: row.needs_code,
  };
}

/** What failures of a sign-in are counted by. */
export function signInSubjects(email: string, address: string): string[] {
  return [accountOf(email), `address:${address}`];
}

const accountOf = (email: string) => `account:${sha256Hex(email)}`;

/** The account is its owner's again. The address keeps its failures: one good account must not pay for guesses at others. */
export async function forgetFailures(email: string): Promise<void> {
  await pool.query("DELETE FROM sign_in_failure WHERE subject = $1", [accountOf(email)]);
}

/** The person an identity provider vouches for, by verified e-mail address; null when nobody here has it. */
export async function findSignIn(verifiedEmail: string): Promise<SignedIn | null> {
  const { rows } = await pool.query<SignedIn>(
    `SELECT id AS "userId", email, display_name AS "displayName", session_version AS "sessionVersion",
       second_factor_at IS NOT NULL AS "needsCode"
     FROM user_account WHERE email = $1`,
    [verifiedEmail.trim().toLowerCase()],
  );
  return rows[0] ?? null;
}

/** Deletes failures that no limit looks at any more. */
export async function pruneSignInFailures(now: Date): Promise<void> {
  await pool.query("DELETE FROM sign_in_failure WHERE at < $1::timestamptz - interval '1 day'", [now]);
}
