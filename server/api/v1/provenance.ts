import { bytes, endpoint } from "@/server/api/endpoint";
import { sha256Hex } from "@/server/canonical";
import { JsonWebKeySet } from "@/server/contract/receipts";
import { publicKeys } from "@/server/domain/signing";

export const getKeySet = endpoint({
  method: "GET",
  path: "/.well-known/jwks.json",
  summary: "Read the public keys that signed receipts",
  description:
    "A JWK Set (RFC 7517) of Ed25519 keys. Keys that sign no more stay listed: what they signed can still be verified.",
  tags: ["Provenance"],
  auth: ["anonymous", "service_principal", "human_session", "panel_session"],
  output: JsonWebKeySet,
  errors: [],
  run: async (_ctx, { incoming }) => {
    const body = JSON.stringify(await publicKeys());
    const headers = {
      etag: `"${sha256Hex(body).slice(0, 32)}"`,
      // Short: a receipt signed by a new key must be verifiable soon after a rotation.
      "cache-control": "public, max-age=60",
      "access-control-allow-origin": "*", // a public document that tools in browsers read
    };
    if (incoming.header("if-none-match") === headers.etag) return bytes({ status: 304, headers });
    return bytes({ headers: { ...headers, "content-type": "application/json" }, body });
  },
});
