import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { refuseUncounted } from "@/server/api/endpoint";
import { toIncoming, toResponse } from "@/server/api/next";
import { originOf, requireOwnPage } from "@/server/api/own-page";
import { SESSION_COOKIE } from "@/server/auth/cookies";
import { authOptions } from "@/server/auth/options";
import { publicUrl } from "@/server/env";
import { Fault } from "@/server/errors";
import { toWire } from "@/server/errors-wire";

type Context = { params: Promise<{ nextauth: string[] }> };

/**
 * Sign-in and sign-out. Besides next-auth's form token, a write must come from our pages, so that no other site can sign a
 * reader out or in as another person.
 */
async function handle(request: NextRequest, context: Context): Promise<Response> {
  const incoming = toIncoming(request);
  try {
    if (request.method === "POST") requireOwnPage(incoming);
    const sessionToken = request.cookies.get(SESSION_COOKIE)?.value ?? "";
    return await NextAuth(request, context, authOptions({ headers: request.headers, sessionToken }));
  } catch (failure) {
    const refused = await refuseUncounted(incoming, failure, (error, requestId) => {
      const wire = toWire(error, requestId);
      return { ...wire, body: { ...wire.body, url: signInPage(originOf(incoming), error) } };
    });
    return toResponse(refused);
  }
}

export { handle as GET, handle as POST };

/** Where next-auth's client continues or reads the error when a request is refused. It understands no other response. */
function signInPage(origin: string | null, error: unknown): string {
  const code = error instanceof Fault ? error.code : "SignInFailed";
  return new URL(`/sign-in?error=${code}`, origin ?? publicUrl).href;
}
