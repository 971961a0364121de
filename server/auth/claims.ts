import { decode, type JWT } from "next-auth/jwt";
import { z } from "zod";
import { access } from "@/server/domain/access";
import type { Principal } from "@/server/domain/ctx";
import type { IdentityLink } from "@/server/domain/sessions";
import { env } from "@/server/platform/settings/env";

export type Person = Extract<Principal, { kind: "human_session" }>;

async function opened(token: string): Promise<JWT | null> {
  if (!token || !env.NEXTAUTH_SECRET) return null;
  return decode({ token, secret: env.NEXTAUTH_SECRET }).catch(() => null); // not ours, changed or too old
}

/** What our cookie says, when it is sealed by us and not too old. A cookie without a session signs no one in. */
export async function claimsOf(token: string): Promise<{ userId: string; sessionId: string } | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.sid !== "string") return null;
  return { userId: claims.sub, sessionId: claims.sid };
}

/** How long somebody has to send their code after the first step of signing in. */
const PENDING_SECONDS = 10 * 60;

const Link = z.object({ issuer: z.string(), name: z.string(), subject: z.string() });

/** Whose code is waited for; `link`: the identity that brought them, to be linked to them when it has come. */
export type Pending = { userId: string; version: number; link?: IdentityLink | undefined };

/** The claims of who has passed the first step of signing in and still owes a code: no session, and no person. */
export function pendingClaims({ userId, version, link }: Pending, now: Date): JWT {
  const until = now.getTime() + PENDING_SECONDS * 1000;
  return { sub: userId, pending: version, until, ...(link && { link }) };
}

/** Whose code is waited for, by our cookie; null for no one's. */
export async function pendingOf(token: string, now: Date): Promise<Pending | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.pending !== "number" || typeof claims.until !== "number") return null;
  if (claims.until <= now.getTime()) return null;
  const link = Link.optional().parse(claims.link);
  return { userId: claims.sub, version: claims.pending, ...(link && { link }) };
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
