import { PRIVATE_ADDRESS } from "./addresses";

/** The code of a network error, the only part that is safe to show; empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** Why there was no connection to `whom` ("provider"), without any text from outside. */
export function whyUnreachable(error: unknown, whom: string): string {
  const code = codeOf(error);
  if (code === PRIVATE_ADDRESS)
    return `The ${whom}'s address is private, and private addresses are not allowed.`;
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return `The ${whom} did not accept a connection in time.`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `The ${whom}'s host name could not be resolved.`;
  if (code === "ECONNREFUSED") return `The ${whom} refused the connection.`;
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)
    ? `A trusted TLS connection to the ${whom} could not be established.`
    : `A connection to the ${whom} could not be established.`;
}
