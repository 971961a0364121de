import { headers, cookies as nextCookies } from "next/headers";
import type { AuthOptions, User } from "next-auth";
import type { JWT } from "next-auth/jwt";
import Credentials from "next-auth/providers/credentials";
import Github from "next-auth/providers/github";
import Google from "next-auth/providers/google";
import { clientAddress, networkOf } from "@/server/api/address";
import { SignIn } from "@/server/contract/organizations";
import { SecondFactorCode } from "@/server/contract/sessions";
import { access } from "@/server/domain/access";
import { type Ctx, systemClock, systemCtx } from "@/server/domain/ctx";
import { findSignIn, type SignedIn, verifySignIn } from "@/server/domain/organizations";
import * as sessions from "@/server/domain/sessions";
import { env, publicUrl } from "@/server/env";
import { Fault } from "@/server/errors";
import { log } from "@/server/log";
import { ownPath } from "./callback-url";
import { claimsOf, pendingClaims, pendingOf } from "./claims";
import { cookies, SESSION_COOKIE } from "./cookies";
import { verifiedEmail } from "./github-email";

declare module "next-auth" {
  /** What a provider found: an account of ours, or the code of why there is none. */
  interface User {
    sessionVersion?: number;
    needsCode?: boolean;
    refusal?: "NoAccount" | "EmailNotVerified";
  }
}

process.env.NEXTAUTH_URL = publicUrl; // the only place where next-auth looks for its own address

const password = Credentials({
  name: "E-mail and password",
  credentials: { email: { type: "email" }, password: { type: "password" } },
  /** Null for a wrong pair; an error whose message is a code of ours where the account or address has to wait. */
  async authorize(fields, request): Promise<User | null> {
    const parsed = SignIn.safeParse(fields);
    if (!parsed.success) return null;
    const forwardedFor: unknown = request.headers?.["x-forwarded-for"];
    const address = networkOf(clientAddress(typeof forwardedFor === "string" ? forwardedFor : undefined, ""));
    let waitSeconds: number;
    try {
      const answer = await verifySignIn({ now: systemClock }, { ...parsed.data, address });
      if ("userId" in answer) return toUser(answer);
      if (answer.refused === "wrong") return null;
      waitSeconds = answer.retryAfterSeconds ?? 0;
    } catch (error) {
      log.error({ err: error }, "sign-in failed");
      throw new Error("SignInFailed");
    }
    throw new Error(`RateLimited:${waitSeconds}`);
  },
});

const toUser = ({ userId, sessionVersion, needsCode }: SignedIn): User => ({
  id: userId,
  sessionVersion,
  needsCode,
});

/** The second step, of who has a second factor: whichever way the first went, it left a cookie that says whose code is due. */
const code = Credentials({
  id: "code",
  name: "Code of the second factor",
  credentials: { code: { type: "text" } },
  async authorize(fields): Promise<User | null> {
    const pending = await pendingOf((await nextCookies()).get(SESSION_COOKIE)?.value ?? "", systemClock());
    if (!pending) throw new Error("CodeTooLate");
    const parsed = SecondFactorCode.pick({ code: true }).safeParse({ code: fields?.code });
    if (!parsed.success) return null;
    try {
      const isRight = await sessions.verifyCode(await signInCtx(), { ...pending, ...parsed.data });
      return isRight ? { id: pending.userId, sessionVersion: pending.version } : null;
    } catch (error) {
      if (error instanceof Fault && error.code === "RateLimited")
        throw new Error(`RateLimited:${error.details.retryAfterSeconds}`);
      log.error({ err: error }, "sign-in failed");
      throw new Error("SignInFailed");
    }
  },
});

const NOBODY = "-"; // next-auth refuses an empty id before it asks the signIn callback

/** The account of an e-mail that an identity provider vouches for. Nobody is signed up on the way. */
async function toAccount(email: string | null): Promise<User> {
  if (!email) return { id: NOBODY, refusal: "EmailNotVerified" };
  const account = await findSignIn(email);
  return account ? toUser(account) : { id: NOBODY, refusal: "NoAccount" };
}

async function githubEmails(accessToken: string | undefined): Promise<unknown> {
  const response = await fetch("https://api.github.com/user/emails", {
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/vnd.github+json" },
    signal: AbortSignal.timeout(10_000),
  });
  return response.ok ? response.json() : null;
}

const identities: AuthOptions["providers"] = [];
if (env.GITHUB_ID && env.GITHUB_SECRET) {
  identities.push(
    Github({
      clientId: env.GITHUB_ID,
      clientSecret: env.GITHUB_SECRET,
      profile: async (_profile, tokens) => toAccount(verifiedEmail(await githubEmails(tokens.access_token))),
    }),
  );
}
if (env.GOOGLE_CLIENT_ID && env.GOOGLE_CLIENT_SECRET) {
  identities.push(
    Google({
      clientId: env.GOOGLE_CLIENT_ID,
      clientSecret: env.GOOGLE_CLIENT_SECRET,
      profile: (profile) => toAccount(profile.email_verified ? profile.email : null),
    }),
  );
}

/** The identity providers that are configured, for the sign-in page. */
export const identityProviders = identities.map(({ id, name }) => ({ id, name }));

async function signInCtx(): Promise<Ctx> {
  const address = clientAddress((await headers()).get("x-forwarded-for") ?? undefined, "");
  return { ...systemCtx("sign-in"), ...(address ? { address } : {}) };
}

/**
 * Each sign-in is a session of its own, under a new id; the one this browser had before ends with it. Who has a second factor
 * has none yet, also after an identity provider: they owe a code.
 */
async function begin(user: User): Promise<JWT> {
  const before = await claimsOf((await nextCookies()).get(SESSION_COOKIE)?.value ?? "");
  if (before) await end(before);
  if (user.needsCode) return pendingClaims(user.id, user.sessionVersion ?? 0, systemClock());
  const sid = await sessions.startSession(await signInCtx(), {
    userId: user.id,
    version: user.sessionVersion ?? 0,
    userAgent: (await headers()).get("user-agent"),
  });
  return { sub: user.id, sid };
}

/** Ends the session of a cookie, if it still works. */
async function end({ userId, sessionId }: { userId: string; sessionId: string }): Promise<void> {
  const person = await access.sessionPrincipal(sessionId, systemClock());
  if (person?.id === userId)
    await sessions.endSession({ ...systemCtx("sign-out"), principal: person }, sessionId);
}

/**
 * How people sign in. The cookie carries the account and the session, sealed; whether that session still works is asked of
 * its row on every request (claims.ts). Signing out ends this session alone.
 */
export const authOptions: AuthOptions = {
  secret: env.NEXTAUTH_SECRET,
  session: { strategy: "jwt", maxAge: sessions.BROWSER_SECONDS },
  cookies,
  providers: [password, code, ...identities],
  pages: { signIn: "/sign-in", signOut: "/sign-in", error: "/sign-in" },
  callbacks: {
    signIn: ({ user }) => (user.refusal ? `/sign-in?error=${user.refusal}` : true),
    redirect: ({ url, baseUrl }) => baseUrl + ownPath(url, baseUrl),
    jwt: async ({ token, user }) => (user ? begin(user) : token),
  },
  events: {
    async signOut({ token }) {
      if (token.sub && typeof token.sid === "string") await end({ userId: token.sub, sessionId: token.sid });
    },
  },
  logger: {
    error: (code, metadata) =>
      log.error({ code, err: metadata instanceof Error ? metadata : undefined }, "next-auth"),
    warn: (code) => log.warn({ code }, "next-auth"),
    debug: () => {},
  },
};
