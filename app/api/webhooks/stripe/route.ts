import { readLimited } from "@/server/api/body";
import { guarded } from "@/server/api/next";
import { MOST_MESSAGE_BYTES, receiveStripeMessage } from "@/server/domain/payments";
import "@/server/domain/requests"; // registers commissions, whose payments could not be booked here otherwise

export const dynamic = "force-dynamic"; // the configuration is read at run time, not at build time

/** Receives Stripe's payment events. The message's signature, over its body byte for byte, is the authentication. */
export function POST(request: Request): Promise<Response> {
  return guarded(request, async (incoming) => {
    const raw = Buffer.from(await readLimited(incoming, MOST_MESSAGE_BYTES)).toString("utf8");
    const outcome = await receiveStripeMessage(raw, request.headers.get("stripe-signature") ?? "");
    return Response.json({ received: true, outcome }, { headers: { "cache-control": "no-store" } });
  });
}
