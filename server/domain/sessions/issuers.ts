import { env } from "@/server/platform/settings/env";

/** The issuer that each provider is stored by, and the name that people know it by. */
export const GITHUB = { issuer: "https://github.com", name: "GitHub" };
export const GOOGLE = { issuer: "https://accounts.google.com", name: "Google" };
export const oidcName = () => env.OIDC_NAME ?? "single sign-on";

export type Registration = { clientId: string; clientSecret: string };

/** Returns our registrations with identity providers, as far as they are configured. People can sign in with these. */
export function registrations(): {
  github: Registration | null;
  google: Registration | null;
  oidcIssuer: string | null;
} {
  const { GITHUB_ID, GITHUB_SECRET, GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, OIDC_ISSUER } = env;
  return {
    github: GITHUB_ID && GITHUB_SECRET ? { clientId: GITHUB_ID, clientSecret: GITHUB_SECRET } : null,
    google:
      GOOGLE_CLIENT_ID && GOOGLE_CLIENT_SECRET
        ? { clientId: GOOGLE_CLIENT_ID, clientSecret: GOOGLE_CLIENT_SECRET }
        : null,
    oidcIssuer: OIDC_ISSUER ?? null,
  };
}

/** True if people can sign in with this provider now. */
export function isOffered(issuer: string): boolean {
  const { github, google, oidcIssuer } = registrations();
  const issuers = [github && GITHUB.issuer, google && GOOGLE.issuer, oidcIssuer];
  return issuers.includes(issuer);
}

/**
 * Returns the name that people know a provider by. Any provider other than GitHub, Google and the one that
 * OIDC_NAME names is named by its host.
 */
export function issuerName(issuer: string): string {
  const known = [GITHUB, GOOGLE].find((each) => each.issuer === issuer);
  if (known) return known.name;
  return issuer === env.OIDC_ISSUER && env.OIDC_NAME ? env.OIDC_NAME : new URL(issuer).host;
}
