import { hash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { userAccount } from "@/server/generated/schema";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { pool, type Queryable } from "@/server/platform/db";
import { column, text } from "@/server/sql/column";
import { people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";

const STEP_SECONDS = 30;
/** RFC 4226 advises this length for SHA-1. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;

const placeOf = (userId: string) => `user_account|${userId}|second_factor_secret`;
// Every authenticator supports these parameters, and some use them whatever the URI states.
const totpOf = (secret: Secret, label = "") =>
  new TOTP({ issuer: "Capstan", label, algorithm: "SHA1", digits: 6, period: STEP_SECONDS, secret });

/**
 * Makes a secret for an authenticator: as text, as the URI in its QR code, and sealed for this person's row.
 */
export function makeSecret(userId: string, email: string): { secret: string; uri: string; sealed: string } {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(SECRET_BYTES)).buffer });
  return {
    secret: secret.base32,
    uri: totpOf(secret, email).toString(),
    sealed: sealSecret(secret.base32, placeOf(userId)),
  };
}

const takeStep = statement("user_account.take.time_step", {
  params: { userId: text, step: userAccount.second_factor_step, sealed: text },
  sql: `UPDATE user_account SET second_factor_step = $step
     WHERE id = $userId AND split_part(second_factor_secret, '.', 5) = split_part($sealed, '.', 5)
       AND (second_factor_step IS NULL OR second_factor_step < $step)`,
});

/**
 * Accepts a code of the authenticator with this sealed secret. Codes of the previous and the next step count too, since
 * clocks differ. Each step is accepted once, and none before the last accepted one, so that an onlooker cannot reuse a
 * code.
 */
export async function takeTimeCode(
  database: Queryable,
  { userId, sealed, code, now }: { userId: string; sealed: string | null; code: string; now: Date },
): Promise<boolean> {
  const token = code.replaceAll(/\s/g, "");
  if (!sealed || !/^\d{6}$/.test(token)) return false;
  const totp = totpOf(Secret.fromBase32(openSecret(sealed, placeOf(userId)).toString()));
  const delta = totp.validate({ token, timestamp: now.getTime(), window: 1 });
  if (delta === null) return false;
  const step = Math.floor(now.getTime() / 1000 / STEP_SECONDS) + delta;
  // The update requires this very secret. It compares the ciphertext and not the wrapped key, which a rotation of the
  // vault key changes.
  const rowCount = await takeStep.count(database, { userId, step, sealed });
  return rowCount === 1;
}

/** The kind of an accepted code; null if the code is wrong or was used. */
type TakenCode = "time" | "recovery" | null;

const takeRecoveryCode = statement("user_account.take.recovery_code", {
  params: { userId: text, hash: column<Buffer>("bytea") },
  sql: `UPDATE user_account SET recovery_hashes = array_remove(recovery_hashes, $hash)
     WHERE id = $userId AND second_factor_at IS NOT NULL AND $hash = ANY(recovery_hashes)`,
});

/**
 * Accepts a code of a person whose second factor is on: a code of the authenticator or a recovery code. Each is
 * accepted once.
 */
export async function takeCode(userId: string, code: string, now: Date): Promise<TakenCode> {
  const row = await people.user.findUnique({
    where: { id: userId, secondFactorAt: { not: null } },
    select: { secondFactorSecret: true },
  });
  if (!row) return null;
  if (await takeTimeCode(pool, { userId, sealed: row.secondFactorSecret, code, now })) return "time";
  const rowCount = await takeRecoveryCode.count(pool, { userId, hash: hashOf(code) });
  return rowCount === 1 ? "recovery" : null;
}

const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32
/** Makes recovery codes, and the hashes of them that are stored. */
export function makeRecoveryCodes(): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const text = Array.from(randomBytes(15), (byte) => LETTERS[byte & 31]).join("");
    return `${text.slice(0, 5)}-${text.slice(5, 10)}-${text.slice(10)}`;
  });
  return { codes, hashes: codes.map(hashOf) };
}

/** A code has 75 random bits, so it needs no slow hash. */
function hashOf(code: string): Buffer {
  return hash("sha256", code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ""), "buffer");
}
