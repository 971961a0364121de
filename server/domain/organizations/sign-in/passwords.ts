import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** The argon2id hash of a password, in its encoded form. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize("NFC"), COST);
}

let decoy: Promise<string> | undefined;

/** True if this is the password. Without a hash to compare with it takes the same time and returns false. */
export async function isPassword(password: string, encoded: string | null): Promise<boolean> {
  decoy ??= hashPassword(randomBytes(16).toString("hex"));
  const isSame = await verify(encoded ?? (await decoy), password.normalize("NFC"));
  return isSame && encoded !== null;
}

/** A random password of 128 bits. */
export function makePassword(): string {
  return randomBytes(16).toString("base64url");
}
