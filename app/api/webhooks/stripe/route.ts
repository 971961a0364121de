import { answered } from "@/server/auth/guard";
import { MOST_MESSAGE_BYTES, receiveStripeMessage } from "@/server/domain/payments";
import "@/server/domain/requests"; // sells commissions: without it their payments could not be booked here
import { fail } from "@/server/errors";

export const dynamic = "force-dynamic"; // what is configured counts when it runs, not when it was built

/** Where Stripe tells of payments. Nobody signs in here: the message's own signature is the right. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    const raw = await bodyOf(request);
    const outcome = await receiveStripeMessage(raw, request.headers.get("stripe-signature") ?? "");
    return Response.json({ received: true, outcome }, { headers: { "cache-control": "no-store" } });
  });
}

/** The body as it came, byte for byte: the signature is over it. */
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
