import type { CookiesOptions } from "next-auth";
import { publicUrl } from "@/server/platform/settings/env";

const isSecure = publicUrl.startsWith("https://");
/** A browser on https refuses a cookie with this prefix from a subdomain, for a path or over plain http. */
const prefix = isSecure ? "__Host-" : "";
const options = { httpOnly: true, sameSite: "lax", path: "/", secure: isSecure } as const;

/** Name of the cookie that carries the encrypted session. */
export const SESSION_COOKIE = `${prefix}capstan.session`;

const SIGN_IN_SECONDS = 15 * 60;

export const cookies: Partial<CookiesOptions> = {
  sessionToken: { name: SESSION_COOKIE, options },
  callbackUrl: { name: `${prefix}capstan.callback-url`, options },
  csrfToken: { name: `${prefix}capstan.csrf-token`, options },
  pkceCodeVerifier: { name: `${prefix}capstan.pkce`, options: { ...options, maxAge: SIGN_IN_SECONDS } },
  state: { name: `${prefix}capstan.state`, options: { ...options, maxAge: SIGN_IN_SECONDS } },
  nonce: { name: `${prefix}capstan.nonce`, options: { ...options, maxAge: SIGN_IN_SECONDS } },
};
