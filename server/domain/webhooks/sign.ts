import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of a secret: `whsec_` and base64, or the UTF-8 bytes of any other text. Null: neither. */
export function keyOf(secret: string): Buffer | null {
  if (!secret.startsWith(PREFIX)) return secret === "" ? null : Buffer.from(secret, "utf8");
  const encoded = secret.slice(PREFIX.length);
  return encoded !== "" && BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

/** The headers of Standard Webhooks: the event's id, the time of this try in seconds, and the signature over both and the body. */
export function signedHeaders(
  secret: string,
  eventId: string,
  body: string,
  now: Date,
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const key = keyOf(secret);
  if (!key) throw new Error("This secret cannot sign.");
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const mac = createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": eventId, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
}
