import { env } from "@/server/env";

/** The addresses providers are kept by, and what people know them by. */
export const GITHUB = { issuer: "https://github.com", name: "GitHub" };
export const GOOGLE = { issuer: "https://accounts.google.com", name: "Google" };
export const oidcName = () => env.OIDC_NAME ?? "single sign-on";

/** What people know a provider by; one that is not configured any more, by its host. */
export function issuerName(issuer: string): string {
  const known = [GITHUB, GOOGLE].find((each) => each.issuer === issuer);
  if (known) return known.name;
  return issuer === env.OIDC_ISSUER && env.OIDC_NAME ? env.OIDC_NAME : new URL(issuer).host;
}
