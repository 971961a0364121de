import { decode, type JWT } from "next-auth/jwt";
import { z } from "zod";
import { access } from "@/server/domain/access";
import type { Principal } from "@/server/domain/ctx";
import type { IdentityLink } from "@/server/domain/sessions";
import { env } from "@/server/platform/settings/env";

export type HumanPrincipal = Extract<Principal, { kind: "human_session" }>;

async function opened(token: string): Promise<JWT | null> {
  if (!token || !env.NEXTAUTH_SECRET) return null;
  return decode({ token, secret: env.NEXTAUTH_SECRET }).catch(() => null); // forged, changed or expired
}

/** The claims of our session cookie; null if it is not sealed by us, is expired, or has no session. */
export async function claimsOf(token: string): Promise<{ userId: string; sessionId: string } | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.sid !== "string") return null;
  return { userId: claims.sub, sessionId: claims.sid };
}

/** Seconds in which a person must send their code after the first step of signing in. */
const PENDING_SECONDS = 10 * 60;

const Link = z.object({ issuer: z.string(), name: z.string(), subject: z.string() });

/**
 * The account that still owes a code. `link` is the identity that the person signed in with, which is linked to the account
 * once the code is correct.
 */
type Pending = { userId: string; version: number; link?: IdentityLink | undefined };

/** The claims of a person who passed the first step of signing in and still owes a code. They give access to nothing. */
export function pendingClaims({ userId, version, link }: Pending, now: Date): JWT {
  const until = now.getTime() + PENDING_SECONDS * 1000;
  return { sub: userId, pending: version, until, ...(link && { link }) };
}

/** The account that still owes a code, from our cookie; null if there is none or the time is up. */
export async function pendingOf(token: string, now: Date): Promise<Pending | null> {
  const claims = await opened(token);
  if (!claims?.sub || typeof claims.pending !== "number" || typeof claims.until !== "number") return null;
  if (claims.until <= now.getTime()) return null;
  const link = Link.optional().parse(claims.link);
  return { userId: claims.sub, version: claims.pending, ...(link && { link }) };
}

/**
 * The person of our cookie, or null. The session is also looked up in the database (cached for a second at most), so an ended
 * session is refused from the next request on.
 */
export async function personOfCookie(token: string, now: Date): Promise<HumanPrincipal | null> {
  const claims = await claimsOf(token);
  const person = claims && (await access.sessionPrincipal(claims.sessionId, now));
  return person?.id === claims?.userId ? person : null;
}
