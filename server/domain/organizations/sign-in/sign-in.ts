import type { Ctx } from "@/server/domain/ctx";
import { session } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { networkOf } from "@/server/platform/network-of";
import { sha256Hex } from "@/server/platform/text/canonical";
import { int4, text, timestamptz } from "@/server/sql/column";
import { people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import {
  addressSubjects,
  deleteSignInFailures,
  forgetSubject,
  recordSignInFailure,
  secondsUntilAllowed,
} from "./brute-force-limit";
import { isPassword } from "./passwords";

export type SignedIn = {
  userId: string;
  email: string;
  displayName: string;
  sessionVersion: number;
  /** The person must enter a code of their second factor before they get a session. */
  needsCode: boolean;
};
/** `wrong`: unknown address or wrong password, with the same answer in the same time. */
export type SignInRefusal = { refused: "wrong" | "too_many"; retryAfterSeconds: number | null };

/** The fields of a person who signs in. */
const SIGN_IN = {
  id: true,
  email: true,
  displayName: true,
  passwordHash: true,
  sessionVersion: true,
  secondFactorAt: true,
} as const;

const findByAddress = (email: string) => people.user.findUnique({ where: { email }, select: SIGN_IN });

const toSignedIn = (row: NonNullable<Awaited<ReturnType<typeof findByAddress>>>): SignedIn => ({
  userId: row.id,
  email: row.email,
  displayName: row.displayName,
  sessionVersion: row.sessionVersion,
  needsCode: row.secondFactorAt !== null,
});

/**
 * Checks an e-mail address and a password. After ten failures of one account or from one network in fifteen
 * minutes even the right password is refused, until the oldest of the ten is fifteen minutes old. If the
 * person signed in recently from this network, only the network's failures count: strangers elsewhere cannot
 * lock them out.
 */
export async function verifySignIn(
  ctx: Pick<Ctx, "now">,
  credentials: { email: string; password: string; address: string },
): Promise<SignedIn | SignInRefusal> {
  const email = credentials.email.trim().toLowerCase();
  const now = ctx.now();
  const isFamiliar = await hasSignedInFrom(email, credentials.address, now);
  const subjects = [...(isFamiliar ? [] : [accountOf(email)]), ...addressSubjects(credentials.address)];
  // The attempt is recorded before it is judged, so that concurrent attempts cannot pass the limit together.
  const entries = await recordSignInFailure(subjects, now);
  const retryAfterSeconds = await secondsUntilAllowed(subjects, now);
  if (retryAfterSeconds > 0) {
    await deleteSignInFailures(entries); // a refused attempt is not a guess
    return { refused: "too_many", retryAfterSeconds };
  }
  const row = await findByAddress(email);
  const isRight = await isPassword(credentials.password, row?.passwordHash ?? null);
  if (!row || !isRight) return { refused: "wrong", retryAfterSeconds: null };
  await deleteSignInFailures(entries);
  // Only the account's failures are cleared. The network keeps its own: one good account must not cover
  // guesses at others.
  await forgetSubject(accountOf(email));
  return toSignedIn(row);
}

const accountOf = (email: string) => `account:${sha256Hex(email)}`;

const FAMILIAR_DAYS = 30;

const listAddresses = statement("session.list.addresses", {
  params: { email: text, now: timestamptz, days: int4 },
  row: { address: session.address },
  sql: `SELECT DISTINCT address FROM session JOIN user_account ON user_account.id = user_id
     WHERE email = $email AND kind = 'browser' AND address <> ''
       AND session.created_at > $now::timestamptz - make_interval(hours => 24 * $days)`,
});

/** True if a browser of this person recently completed every step of signing in from this network. */
async function hasSignedInFrom(email: string, network: string, now: Date): Promise<boolean> {
  const rows = await listAddresses.all(pool, { email, now, days: FAMILIAR_DAYS });
  return rows.some(({ address }) => networkOf(address) === network);
}

/** The person with an e-mail address that an identity provider has verified; null if no account has it. */
export async function findSignIn(verifiedEmail: string): Promise<SignedIn | null> {
  const row = await findByAddress(verifiedEmail.trim().toLowerCase());
  return row && toSignedIn(row);
}

const deleteOld = statement("sign_in_failure.delete.old", {
  params: { now: timestamptz },
  sql: `DELETE FROM sign_in_failure WHERE at < $now::timestamptz - interval '24 hours'`,
});

/** Deletes failures that no limit counts any longer. */
export async function pruneSignInFailures(now: Date): Promise<void> {
  await deleteOld.run(pool, { now });
}
