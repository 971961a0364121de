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

process.env.NEXTAUTH_URL = publicUrl; // the only place where next-auth looks for its own address

/** What came with a request of signing in or out. */
export type Sent = { headers: Headers; sessionToken: string };

const password = (sent: Sent) =>
  Credentials({
    name: "Email and password",
    credentials: { email: { type: "email" }, password: { type: "password" } },
    /** Null for a wrong pair; an error whose message is a code of ours where the account or address has to wait. */
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

/** The second step, of who has a second factor: whichever way the first went, it left a cookie that says whose code is due. */
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
 * Each sign-in is a session of its own, under a new id; the one this browser had before ends with it. Who has a second factor
 * has none yet, also after an identity provider: they owe a code.
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
 * How people sign in. The cookie carries the account and the session, sealed; whether that session still works is asked of
 * its row on every request (claims.ts). Signing out ends this session alone.
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
