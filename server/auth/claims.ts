import { decode } from "next-auth/jwt";
import { access } from "@/server/domain/access";
import type { Principal } from "@/server/domain/ctx";
import { env } from "@/server/env";

export type Person = Extract<Principal, { kind: "human_session" }>;

/** What our cookie says, when it is sealed by us and not too old. A cookie without a session signs nobody in. */
export async function claimsOf(token: string): Promise<{ userId: string; sessionId: string } | null> {
  if (!token || !env.NEXTAUTH_SECRET) return null;
  const claims = await decode({ token, secret: env.NEXTAUTH_SECRET }).catch(() => null); // not ours, changed or too old
  if (!claims?.sub || typeof claims.sid !== "string") return null;
  return { userId: claims.sub, sessionId: claims.sid };
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
