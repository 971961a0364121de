import { WebhookSignatureError } from "./errors";

/** A webhook's body: the event of a job, a capability request or a budget. */
export type WebhookEvent = {
  id: string;
  type: string;
  createdAt: string;
  payload: Record<string, unknown>;
  [member: string]: unknown;
};

export type WebhookDelivery = {
  /** The body exactly as it was received: parsing and serializing would change its bytes. */
  body: string | Uint8Array;
  /** The request's headers: a Headers object, or Node's `request.headers`. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The endpoint's secret, or both during a rotation. */
  secret: string | readonly string[];
  /** The maximum age of a delivery, 300 seconds by default. */
  toleranceSeconds?: number | undefined;
};

/**
 * The event of a webhook, if one of the secrets signed it by the Standard Webhooks specification. Throws
 * WebhookSignatureError otherwise. Deliveries may repeat, so skip a `webhook-id` that you have already handled.
 */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds = 300 } = delivery;
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string") throw new WebhookSignatureError(`The header ${name} is missing.`);
    return value;
  });
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds))
    throw new WebhookSignatureError(`The delivery was not signed within ${toleranceSeconds} seconds of now.`);
  const bytes = typeof body === "string" ? utf8(body) : body;
  const start = utf8(`${id}.${timestamp}.`);
  const signed = new Uint8Array(start.byteLength + bytes.byteLength);
  signed.set(start);
  signed.set(bytes, start.byteLength);
  for (const one of [secret].flat())
    for (const signature of signatures!.split(" "))
      if (await isSigned(one, signature, signed)) return JSON.parse(new TextDecoder().decode(bytes));
  throw new WebhookSignatureError("No signature of the delivery matches its body and the secret.");
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/** Verifies with `crypto.subtle.verify`, which compares in constant time. */
async function isSigned(
  secret: string,
  signature: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!signature.startsWith("v1,")) return false;
  try {
    const raw = secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : utf8(secret);
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    return await crypto.subtle.verify("HMAC", key, fromBase64(signature.slice(3)), signed);
  } catch {
    return false; // neither base64 nor a key
  }
}
