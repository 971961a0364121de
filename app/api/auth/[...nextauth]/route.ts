import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { originOf, requireSameOrigin } from "@/server/api/own-page";
import { SESSION_COOKIE } from "@/server/auth/cookies";
import { answered } from "@/server/auth/guard";
import { authOptions } from "@/server/auth/options";
import { publicUrl } from "@/server/env";

type Context = { params: Promise<{ nextauth: string[] }> };

function handle(request: NextRequest, context: Context): Promise<Response> {
  const sessionToken = request.cookies.get(SESSION_COOKIE)?.value ?? "";
  return NextAuth(request, context, authOptions({ headers: request.headers, sessionToken }));
}

export const GET = handle;

/**
 * Sign-in and sign-out. Besides next-auth's form token, the request must come from our pages, so that no other site can
 * sign a reader out or in as another person.
 */
export function POST(request: NextRequest, context: Context): Promise<Response> {
  return answered(
    async () => {
      requireSameOrigin(request);
      return handle(request, context);
    },
    { url: signInPage(request) },
  );
}

/**
 * Where next-auth's client continues or reads the error when a request is refused. It understands no other response.
 */
function signInPage({ headers }: NextRequest): string {
  const origin = originOf({ header: (name) => headers.get(name) ?? undefined });
  return new URL("/sign-in?error=CrossSiteRequest", origin ?? publicUrl).href;
}
