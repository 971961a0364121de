import type { LoggerInstance } from "next-auth";
import { certificateFault } from "@/server/platform/certificate-fault";
import { log } from "@/server/platform/log/log";
import { loggedCauses } from "@/server/platform/log/logged-causes";

/** Error codes of RFC 6749 and OpenID Connect. A provider's free text is not logged, because it may repeat the request. */
const OAUTH_CODES =
  /^(invalid_client|invalid_grant|invalid_request|invalid_scope|unauthorized_client|unsupported_grant_type|unsupported_response_type|access_denied|server_error|temporarily_unavailable|invalid_token|login_required|consent_required|interaction_required)\b/;

const causes = loggedCauses();

/** An identity provider's error as next-auth reports it: the error itself, or the error with the provider's id. */
type Reported = Error | { error?: unknown; providerId?: unknown };

/**
 * The logger of next-auth. Each cause of a provider's failure is logged once until a sign-in with that
 * provider works again. The provider's own text is never logged, because it may repeat codes and secrets.
 */
export const authLogger: LoggerInstance = {
  error(code, reported: Reported) {
    const { providerId, error } = reported instanceof Error ? {} : reported;
    if (typeof providerId === "string") return logProvider(providerId, code, error);
    // next-auth reports a provider's refusal twice, first with the provider's id.
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

/** Records a successful sign-in with this provider, so that the next failure is logged. */
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
