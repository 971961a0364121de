import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { guarded } from "@/server/api/next";
import { requireOwnPage, statedOrigin } from "@/server/api/own-page";
import { SESSION_COOKIE } from "@/server/auth/cookies";
import { authOptions } from "@/server/auth/options";
import { Fault } from "@/server/platform/errors/errors";
import { toWire } from "@/server/platform/errors/errors-wire";
import { publicUrl } from "@/server/platform/settings/env";

type Context = { params: Promise<{ nextauth: string[] }> };

/**
 * Sign-in and sign-out. Besides next-auth's form token, a write must come from our pages, so that no other site can sign a
 * reader out or in as another person.
 */
function handle(request: NextRequest, context: Context): Promise<Response> {
  return guarded(
    request,
    async (incoming) => {
      if (request.method === "POST") requireOwnPage(incoming);
      const sessionToken = request.cookies.get(SESSION_COOKIE)?.value ?? "";
      return NextAuth(request, context, authOptions({ headers: request.headers, sessionToken }));
    },
    (error, requestId) => {
      const wire = toWire(error, requestId);
      return { ...wire, body: { ...wire.body, url: signInPage(request, error) } };
    },
  );
}

export { handle as GET, handle as POST };

/**
 * The sign-in URL with a refusal's code. next-auth's client goes there or reads the error from it, and understands no other
 * response.
 */
function signInPage({ headers }: NextRequest, error: unknown): string {
  const origin = statedOrigin({ header: (name) => headers.get(name) ?? undefined });
  const code = error instanceof Fault ? error.code : "SignInFailed";
  return new URL(`/sign-in?error=${code}`, origin ?? publicUrl).href;
}
