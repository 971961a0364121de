import { decode, type JWT } from "next-auth/jwt";
import { access } from "@/server/domain/access";
import type { Principal } from "@/server/domain/ctx";
import { env } from "@/server/env";

export type Person = Extract<Principal, { kind: "human_session" }>;

async function opened(token: string): Promise<JWT | null> {
  if (!token || !env.NEXTAUTH_SECRET) return null;
  return decode({ token, secret: env.NEXTAUTH_SECRET }).catch(() => null); // not ours, changed or too old
}

/** What our cookie says, when it is sealed by us and not too old. A cookie without a session signs nobody in. */
export async function claimsOf(token: string): Promise<{ userId: string; sessionId: string } | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.sid !== "string") return null;
  return { userId: claims.sub, sessionId: claims.sid };
}

/** How long somebody has to send their code after the first step of signing in. */
const PENDING_SECONDS = 10 * 60;

/** The claims of who has passed the first step of signing in and still owes a code: no session, and no person. */
export function pendingClaims(userId: string, version: number, now: Date): JWT {
  return { sub: userId, pending: version, until: now.getTime() + PENDING_SECONDS * 1000 };
}

/** Whose code is waited for, by our cookie; null for nobody's. */
export async function pendingOf(
  token: string,
  now: Date,
): Promise<{ userId: string; version: number } | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.pending !== "number" || typeof claims.until !== "number") return null;
  return claims.until > now.getTime() ? { userId: claims.sub, version: claims.pending } : null;
}

/**
 * The person of our cookie, or null. Beyond the cookie's seal and age its session is asked of the database (remembered for a
 * second at most), so one that was ended is none from the next request on.
 */
export async function personOfCookie(token: string, now: Date): Promise<Person | null> {
  const claims = await claimsOf(token);
  const person = claims && (await access.sessionPrincipal(claims.sessionId, now));
  return person?.id === claims?.userId ? person : null;
}
