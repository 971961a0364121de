import type { LoggerInstance } from "next-auth";
import { certificateFault } from "@/server/platform/certificate-fault";
import { log } from "@/server/platform/log/log";
import { loggedCauses } from "@/server/platform/log/logged-causes";

/** Of RFC 6749 and OpenID Connect; a provider's own words may repeat what it was sent. */
const OAUTH_CODES =
  /^(invalid_client|invalid_grant|invalid_request|invalid_scope|unauthorized_client|unsupported_grant_type|unsupported_response_type|access_denied|server_error|temporarily_unavailable|invalid_token|login_required|consent_required|interaction_required)\b/;

const causes = loggedCauses();

/** What next-auth reports of an identity provider: the error itself, or the error with whose it is. */
type Reported = Error | { error?: unknown; providerId?: unknown };

/**
 * What next-auth logs by. Why an identity provider fails is logged once until somebody signs in by it again; the words of
 * its answers are not, since they may repeat codes and secrets.
 */
export const authLogger: LoggerInstance = {
  error(code, reported: Reported) {
    const { providerId, error } = reported instanceof Error ? {} : reported;
    if (typeof providerId === "string") return logProvider(providerId, code, error);
    // A provider's refusal comes twice, first with whose it is.
    if (code === "OAUTH_CALLBACK_ERROR") return;
    log.error({ code, err: reported instanceof Error ? reported : undefined }, "next-auth");
  },
  warn: (code) => log.warn({ code }, "next-auth"),
  debug: () => {},
};

function logProvider(provider: string, code: string, error: unknown): void {
  const cause = causeOf(error);
  if (causes.isNew(provider, cause)) log.error({ code, provider, cause }, "an identity provider fails");
}

/** Somebody signed in by this provider: a failure after this is a new one. */
export function noteProviderWorks(provider: string): void {
  if (causes.clear(provider)) log.info({ provider }, "an identity provider works again");
}

function causeOf(error: unknown): string {
  const { message = "", code }: { message?: string; code?: unknown } = error instanceof Error ? error : {};
  const system = typeof code === "string" ? code : "";
  const untrusted = certificateFault("the identity provider", system);
  if (untrusted) return untrusted;
  if (system === "ENOTFOUND" || system === "EAI_AGAIN")
    return `The host name of the identity provider cannot be resolved (${system}).`;
  if (/^E[A-Z]+$/.test(system)) return `The identity provider could not be reached (${system}).`;
  const oauth = OAUTH_CODES.exec(message)?.[1];
  if (oauth === "invalid_client")
    return "The identity provider rejected our client id and secret (invalid_client).";
  if (oauth) return `The identity provider rejected the sign-in (${oauth}).`;
  const status = /, got: (\d{3}) /.exec(message)?.[1];
  if (status) return `The identity provider answered ${status}.`;
  if (/timed out/.test(message)) return "The identity provider did not answer in time.";
  if (/^(state|nonce|checks\.|PKCE|State cookie|Nonce cookie)/i.test(message))
    return "The answer does not belong to a sign-in that this browser started. Sign in again.";
  return "The answer of the identity provider could not be used.";
}
