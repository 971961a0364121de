import { env } from "@/server/platform/settings/env";

/** The addresses providers are kept by, and what people know them by. */
export const GITHUB = { issuer: "https://github.com", name: "GitHub" };
export const GOOGLE = { issuer: "https://accounts.google.com", name: "Google" };
export const oidcName = () => env.OIDC_NAME ?? "single sign-on";

export type Registration = { clientId: string; clientSecret: string };

/** What we are registered as with providers, as far as it is configured: by these people sign in. */
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

/** Can somebody sign in by this provider now? */
export function isOffered(issuer: string): boolean {
  const { github, google, oidcIssuer } = registrations();
  const issuers = [github && GITHUB.issuer, google && GOOGLE.issuer, oidcIssuer];
  return issuers.includes(issuer);
}

/** What people know a provider by; one that is not configured any more, by its host. */
export function issuerName(issuer: string): string {
  const known = [GITHUB, GOOGLE].find((each) => each.issuer === issuer);
  if (known) return known.name;
  return issuer === env.OIDC_ISSUER && env.OIDC_NAME ? env.OIDC_NAME : new URL(issuer).host;
}
