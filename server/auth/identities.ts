import type { AuthOptions, Profile, User } from "next-auth";
import Github from "next-auth/providers/github";
import Google from "next-auth/providers/google";
import type { OAuthConfig } from "next-auth/providers/oauth";
import { z } from "zod";
import {
  GITHUB,
  GOOGLE,
  type Identified,
  type Identity,
  type IdentityLink,
  type IdentityRefusal,
  oidcName,
  type Registration,
  registrations,
} from "@/server/domain/sessions";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { verifiedEmail } from "./github-email";

type Provider = AuthOptions["providers"][number];
/** Finds the account of an identity, or the reason for which there is none. */
export type Identify = (identity: Identity) => Promise<Identified | IdentityRefusal>;

declare module "next-auth" {
  /** The result of a provider's sign-in: an account of ours, or the code of a refusal. */
  interface User {
    sessionVersion?: number;
    needsCode?: boolean;
    link?: IdentityLink;
    refusal?: IdentityRefusal["refused"] | "OAuthCallback" | "SignInFailed";
  }
}

export const toUser = ({ userId, sessionVersion, needsCode, link }: Identified): User => ({
  id: userId,
  sessionVersion,
  needsCode,
  ...(link && { link }),
});

const NO_ID = "-"; // next-auth refuses an empty id before it calls the signIn callback

const Subject = z.union([z.string().min(1).max(255), z.int()]).transform(String);
/** A provider's claims before they are verified. */
type Claimed = Pick<Identity, "name" | "verifiedEmail"> & { subject: unknown };

/**
 * The account of a provider's claims, or the code of a refusal. Errors are caught here, because next-auth
 * would send the reader back without a message.
 */
async function toAccount(identify: Identify, issuer: string, find: () => Promise<Claimed>): Promise<User> {
  try {
    const claimed = await find();
    const subject = Subject.safeParse(claimed.subject);
    if (!subject.success) {
      log.error({ issuer }, "the identity provider's answer has no subject");
      return refused("OAuthCallback");
    }
    const found = await identify({ ...claimed, issuer, subject: subject.data });
    return "refused" in found ? refused(found.refused) : toUser(found);
  } catch (error) {
    log.error({ err: error, issuer }, "sign-in failed");
    return refused("SignInFailed");
  }
}

const refused = (refusal: NonNullable<User["refusal"]>): User => ({ id: NO_ID, refusal });

/*
 * Every provider gets a state and a PKCE challenge, and those that sign tokens also get a nonce. A response then counts only
 * in the browser that asked, and only for that request. next-auth's own providers omit some of them.
 */
const CHECKS: ("pkce" | "state" | "nonce")[] = ["pkce", "state"];
const SIGNED_CHECKS: typeof CHECKS = [...CHECKS, "nonce"];

/** The identity providers that are configured. */
export function identityProviders(identify: Identify): Provider[] {
  const ours = registrations();
  const providers: Provider[] = [];
  if (ours.github) providers.push(github(ours.github, identify));
  if (ours.google) providers.push(google(ours.google, identify));
  if (ours.oidcIssuer) providers.push(generic(ours.oidcIssuer, identify));
  return providers;
}

/** The ids and names of the configured providers, for the sign-in page. */
export const identityNames = () =>
  identityProviders(async () => ({ refused: "NoAccount" })).map(({ id, name }) => ({ id, name }));

function github(client: Registration, identify: Identify): Provider {
  return Github({
    ...client,
    checks: CHECKS,
    profile: async (profile, tokens) =>
      toAccount(identify, GITHUB.issuer, async () => ({
        name: GITHUB.name,
        subject: profile.id,
        verifiedEmail: verifiedEmail(await githubEmails(tokens.access_token)),
      })),
  });
}

async function githubEmails(accessToken: string | undefined): Promise<unknown> {
  const response = await fetch("https://api.github.com/user/emails", {
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/vnd.github+json" },
    signal: AbortSignal.timeout(10_000),
  });
  return response.ok ? response.json() : null;
}

function google(client: Registration, identify: Identify): Provider {
  return Google({
    ...client,
    checks: SIGNED_CHECKS,
    profile: (profile) =>
      toAccount(identify, GOOGLE.issuer, async () => ({
        name: GOOGLE.name,
        subject: profile.sub,
        verifiedEmail: profile.email_verified === true ? profile.email : null,
      })),
  });
}

type Claims = Profile & { iss: string; sub: string; email_verified?: unknown };

/** Any OpenID Connect provider, configured from its `/.well-known/openid-configuration`. */
function generic(issuer: string, identify: Identify): OAuthConfig<Claims> {
  const name = oidcName();
  return {
    id: "oidc",
    name,
    type: "oauth",
    wellKnown: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    clientId: env.OIDC_CLIENT_ID,
    clientSecret: env.OIDC_CLIENT_SECRET,
    authorization: { params: { scope: "openid email profile" } },
    idToken: true,
    checks: SIGNED_CHECKS,
    userinfo: {
      // Some providers put the e-mail into the signed token, others return it only from the userinfo endpoint.
      async request({ client, tokens }) {
        if (!("claims" in tokens && typeof tokens.claims === "function"))
          throw new Error("the identity provider's answer has no signed token");
        const claims: Claims = tokens.claims();
        if (claims.email !== undefined || !client.issuer.metadata.userinfo_endpoint) return claims;
        const claimed = await client.userinfo<Claims>(tokens.access_token ?? "");
        if (claimed.sub !== claims.sub)
          throw new Error("the identity provider's answer is about another person");
        return { ...claims, email: claimed.email, email_verified: claimed.email_verified };
      },
    },
    profile: async (profile) => {
      // The discovery document may name another issuer than the configured one, and tokens are checked against the document.
      if (profile.iss !== issuer) {
        log.error(
          { configured: issuer, claimed: profile.iss },
          "OIDC_ISSUER differs from the issuer that the provider reports",
        );
        return refused("OAuthCallback");
      }
      return toAccount(identify, issuer, async () => ({
        name,
        subject: profile.sub,
        verifiedEmail: profile.email_verified === true ? (profile.email ?? null) : null,
      }));
    },
  };
}
