import { answered } from "@/server/auth/guard";
import { MOST_MESSAGE_BYTES, receiveStripeMessage } from "@/server/domain/payments";
import "@/server/domain/requests"; // sells commissions: without it their payments could not be booked here
import { fail } from "@/server/errors";

export const dynamic = "force-dynamic"; // the configuration is read at run time, not at build time

/** Receives Stripe's payment events. The message's signature is the authentication. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    const raw = await bodyOf(request);
    const outcome = await receiveStripeMessage(raw, request.headers.get("stripe-signature") ?? "");
    return Response.json({ received: true, outcome }, { headers: { "cache-control": "no-store" } });
  });
}

/** The raw body, byte for byte, which the signature covers. */
async function bodyOf(request: Request): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MOST_MESSAGE_BYTES)
      fail("PayloadTooLarge", `The body is larger than ${MOST_MESSAGE_BYTES} bytes.`, {
        maxBytes: MOST_MESSAGE_BYTES,
      });
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
