import { decode, encode } from "next-auth/jwt";
import { SESSION_COOKIE } from "@/server/auth/cookies";
import { access } from "@/server/domain/access";
import { systemCtx } from "@/server/domain/ctx";
import { startSession } from "@/server/domain/sessions";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";

/** Starts a browser session of this person at this time, by default now; returns its id. */
export async function signIn(userId: string, at: () => Date = () => new Date()): Promise<string> {
  const { rows } = await pool.query<{ session_version: number }>(
    "SELECT session_version FROM user_account WHERE id = $1",
    [userId],
  );
  const version = rows[0]?.session_version ?? 0;
  return startSession(systemCtx("test", at), { userId, version, userAgent: null });
}

/** This person as a principal, in a new session. */
export async function personOf(userId: string) {
  const person = await access.sessionPrincipal(await signIn(userId), new Date());
  if (!person) throw new Error("the person is not there");
  return person;
}

/** The cookie of a new session of this person. */
export async function cookieOf(userId: string): Promise<string> {
  return sealedCookie({ sub: userId, sid: await signIn(userId) });
}

/** Another session of the person with this cookie. */
export async function otherSessionOf(cookie: string): Promise<string> {
  const token = cookie.slice(cookie.indexOf("=") + 1);
  const claims = await decode({ token, secret: env.NEXTAUTH_SECRET ?? "" });
  return signIn(claims?.sub ?? "");
}

/** A session cookie of ours with these claims. */
export async function sealedCookie(
  claims: Record<string, unknown>,
  { maxAge = 3_600, secret = env.NEXTAUTH_SECRET ?? "" } = {},
): Promise<string> {
  return `${SESSION_COOKIE}=${await encode({ token: claims, secret, maxAge })}`;
}
