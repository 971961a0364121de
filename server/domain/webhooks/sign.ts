import { createHmac } from "node:crypto";
import { BASE64, SECRET_PREFIX } from "@/server/contract/webhooks";

/**
 * Returns the bytes of a secret: the decoded base64 after `whsec_`, or the UTF-8 bytes of any other text. Returns null
 * for an empty secret and for invalid base64.
 */
function secretBytes(secret: string): Buffer | null {
  if (!secret.startsWith(SECRET_PREFIX)) return secret === "" ? null : Buffer.from(secret, "utf8");
  const encoded = secret.slice(SECRET_PREFIX.length);
  return encoded !== "" && BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

/**
 * Returns a plain text in the `whsec_` form that every library accepts. Returns null if the secret already has that
 * form, or is empty.
 */
export function signingSecretOf(secret: string): string | null {
  const key = secret.startsWith(SECRET_PREFIX) ? null : secretBytes(secret);
  return key && SECRET_PREFIX + key.toString("base64");
}

/**
 * Returns the headers of Standard Webhooks: the event id, the time of this try in seconds, and the signature over both
 * and the body. Throws if the secret cannot sign.
 */
export function signedHeaders(
  secret: string,
  eventId: string,
  body: string,
  now: Date,
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const key = secretBytes(secret);
  if (!key) throw new Error("This secret cannot sign.");
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const mac = createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": eventId, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
}
