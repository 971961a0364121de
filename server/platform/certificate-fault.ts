const CODES =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$)/;
/** Codes of an unknown signer. The other codes are faults of the certificate itself. */
const OF_AUTHORITY = /SELF_SIGNED|UNABLE_TO_/;

/** Explains why Node does not trust a certificate and what an operator can do; null if the code is about something else. */
export function certificateFault(whose: string, code: string): string | null {
  if (!CODES.test(code)) return null;
  const fault = `The certificate of ${whose} is not trusted (${code}).`;
  return OF_AUTHORITY.test(code)
    ? `${fault} If an authority of your own signed it, name that authority's file in NODE_EXTRA_CA_CERTS.`
    : fault;
}
