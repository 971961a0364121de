import { env } from "@/server/platform/settings/env";
import { PRIVATE_ADDRESS } from "./addresses";

/** Why the proxy opened no tunnel. */
type ProxyCode = "PROXY_UNREACHABLE" | "PROXY_CREDENTIALS" | "PROXY_REFUSED";

/** The outgoing proxy opened no tunnel, so nothing was sent. `detail` is the proxy's status or the code of the error. */
export class ProxyFault extends Error {
  override readonly name = "ProxyFault";
  constructor(
    readonly code: ProxyCode,
    readonly detail: string,
  ) {
    super(`${code} ${detail}`);
  }
}

/** The code of a network error, the only part that is safe to show; empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** Why there was no connection to `whom` ("provider"), without any text from outside. */
export function whyUnreachable(error: unknown, whom: string): string {
  const code = codeOf(error);
  if (error instanceof ProxyFault) return whyNoTunnel(error, whom);
  if (code === PRIVATE_ADDRESS)
    return `The ${whom}'s address is private, and private addresses are not allowed.`;
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return `The ${whom} did not accept a connection in time.`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `The ${whom}'s host name could not be resolved.${mayBeResolvedByProxy() ? ` ${RESOLVED_BY_PROXY}` : ""}`;
  if (code === "ECONNREFUSED") return `The ${whom} refused the connection.`;
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)
    ? `A trusted TLS connection to the ${whom} could not be established.`
    : `A connection to the ${whom} could not be established.`;
}

export const RESOLVED_BY_PROXY =
  "Where only the outgoing proxy resolves names, OUTGOING_PROXY_RESOLVES=1 is required.";
const mayBeResolvedByProxy = () => env.OUTGOING_PROXY !== undefined && !env.OUTGOING_PROXY_RESOLVES;

function whyNoTunnel({ code, detail }: ProxyFault, whom: string): string {
  if (code === "PROXY_CREDENTIALS")
    return "The outgoing proxy requires a user name and password in OUTGOING_PROXY that it accepts (407).";
  return code === "PROXY_REFUSED"
    ? `The outgoing proxy did not connect to the ${whom} (${detail}).`
    : `The outgoing proxy in OUTGOING_PROXY could not be reached (${detail}).`;
}
