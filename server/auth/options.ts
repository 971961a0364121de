import type { AuthOptions, User } from "next-auth";
import type { JWT } from "next-auth/jwt";
import Credentials from "next-auth/providers/credentials";
import { SignIn } from "@/server/contract/organizations";
import { SecondFactorCode } from "@/server/contract/sessions";
import { access } from "@/server/domain/access";
import { type Ctx, systemClock, systemCtx } from "@/server/domain/ctx";
import { verifySignIn } from "@/server/domain/organizations";
import * as sessions from "@/server/domain/sessions";
import { clientAddress } from "@/server/platform/client-address";
import { Fault } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";
import { networkOf } from "@/server/platform/network-of";
import { env, publicUrl } from "@/server/platform/settings/env";
import { ownPath } from "./callback-url";
import { claimsOf, pendingClaims, pendingOf } from "./claims";
import { cookies } from "./cookies";
import { identityProviders, toUser } from "./identities";
import { authLogger, noteProviderWorks } from "./provider-failures";

process.env.NEXTAUTH_URL = publicUrl; // next-auth looks for its own address only here

/** The parts of a sign-in or sign-out request that are used here. */
type Sent = { headers: Headers; sessionToken: string };

const password = (sent: Sent) =>
  Credentials({
    name: "Email and password",
    credentials: { email: { type: "email" }, password: { type: "password" } },
    /**
     * Null for a wrong email or password. If the account or address must wait, throws an error whose message is a code of
     * ours.
     */
    async authorize(fields): Promise<User | null> {
      const parsed = SignIn.safeParse(fields);
      if (!parsed.success) return null;
      const address = networkOf(addressOf(sent));
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

/**
 * The second step, for accounts with a second factor: the first step, by password or identity provider, left a cookie that
 * names the account.
 */
const code = (sent: Sent) =>
  Credentials({
    id: "code",
    name: "Code of the second factor",
    credentials: { code: { type: "text" } },
    async authorize(fields): Promise<User | null> {
      const pending = await pendingOf(sent.sessionToken, systemClock());
      if (!pending) throw new Error("CodeTooLate");
      const parsed = SecondFactorCode.pick({ code: true }).safeParse({ code: fields?.code });
      if (!parsed.success) return null;
      try {
        const { userId, version, link } = pending;
        const ctx = signInCtx(sent);
        if (!(await sessions.verifyCode(ctx, { userId, version, ...parsed.data }))) return null;
        const isTheirs = !link || (await sessions.linkIdentity(ctx, link, userId));
        if (isTheirs) return { id: userId, sessionVersion: version };
      } catch (error) {
        if (error instanceof Fault && error.code === "RateLimited")
          throw new Error(`RateLimited:${error.details.retryAfterSeconds}`);
        log.error({ err: error }, "sign-in failed");
        throw new Error("SignInFailed");
      }
      throw new Error("IdentityTaken");
    },
  });

const addressOf = ({ headers }: Sent) => clientAddress(headers.get("x-forwarded-for") ?? undefined, "");

function signInCtx(sent: Sent): Ctx {
  const address = addressOf(sent);
  return { ...systemCtx("sign-in"), ...(address ? { address } : {}) };
}

/**
 * Starts a new session under a new id and ends this browser's previous one. An account with a second factor gets no session
 * yet, even after an identity provider: it still owes a code.
 */
async function begin(user: User, sent: Sent): Promise<JWT> {
  const before = await claimsOf(sent.sessionToken);
  if (before) await end(before);
  if (user.needsCode) {
    const { id: userId, sessionVersion: version = 0, link } = user;
    return pendingClaims({ userId, version, link }, systemClock());
  }
  const sid = await sessions.startSession(signInCtx(sent), {
    userId: user.id,
    version: user.sessionVersion ?? 0,
    userAgent: sent.headers.get("user-agent"),
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
 * The sign-in methods. The cookie carries the account and the session, sealed; each request checks the session's row
 * (claims.ts). Signing out ends only this session.
 */
export const authOptions = (sent: Sent): AuthOptions => ({
  secret: env.NEXTAUTH_SECRET,
  session: { strategy: "jwt", maxAge: sessions.BROWSER_SECONDS },
  cookies,
  providers: [
    password(sent),
    code(sent),
    ...identityProviders((identity) => sessions.identify(signInCtx(sent), identity)),
  ],
  pages: { signIn: "/sign-in", signOut: "/sign-in", error: "/sign-in" },
  callbacks: {
    signIn: ({ user }) => (user.refusal ? `/sign-in?error=${user.refusal}` : true),
    redirect: ({ url, baseUrl }) => baseUrl + ownPath(url, baseUrl),
    jwt: async ({ token, user }) => (user ? begin(user, sent) : token),
  },
  events: {
    signIn({ account }) {
      if (account?.type === "oauth") noteProviderWorks(account.provider);
    },
    async signOut({ token }) {
      if (token.sub && typeof token.sid === "string") await end({ userId: token.sub, sessionId: token.sid });
    },
  },
  logger: authLogger,
});
