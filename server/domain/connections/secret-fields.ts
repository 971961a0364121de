import { Secret } from "@/server/platform/crypto/secret";
import { fingerprintOf, openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { ValidationFault } from "@/server/platform/errors/errors";
import type { Provider } from "@/server/providers/provider";

/**
 * Matches printable ASCII. No key has other characters and no header takes them; they usually come from
 * careless pasting.
 */
const PRINTABLE = /^[\x20-\x7e]*$/;
/** Secrets shorter than this show no last characters, which would reveal too much. */
const SHOWN_FROM = 12;

type Fields = Record<string, string>;

const refuse = (msg: string): never => {
  throw new ValidationFault([{ loc: ["body", "secret"], msg, type: "value_error" }]);
};

/**
 * Parses the fields of a provider's credentials from the single text that callers send. Its errors never
 * quote a value.
 */
export function parseCredentials(provider: Provider, secret: string): Fields {
  const text = secret.trim();
  const names = Object.keys(provider.credentials.shape);
  const [only, ...others] = names;
  const given = asObject(text) ?? (only !== undefined && others.length === 0 ? { [only]: text } : null);
  if (!given) return refuse(`${provider.title} needs ${names.join(" and ")}. Send them as a JSON object.`);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  if (unknown.length > 0) refuse(`${provider.title} accepts only ${names.join(", ")}.`);
  const fields = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (typeof value !== "string") return refuse(`${name} must be text.`);
      const trimmed = value.trim();
      if (!PRINTABLE.test(trimmed))
        refuse(
          `${name} contains characters that are not allowed in a key. Check it for spaces and line breaks.`,
        );
      return trimmed === "" ? [] : [[name, trimmed]];
    }),
  );
  const missing = provider.credentials.safeParse(fields).error?.issues[0];
  if (missing) refuse(`${missing.path.join(".") || "The secret"} is missing or malformed.`);
  return fields;
}

function asObject(text: string): Record<string, unknown> | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    return refuse("This looks like a JSON object but cannot be parsed.");
  }
}

/** The parts of a secret that may be shown: enough for its owner to recognize it. */
export function recognizableParts(provider: string, organizationId: string, fields: Fields) {
  const text = JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  const first = Object.values(fields)[0] ?? "";
  return {
    last4: first.length >= SHOWN_FROM ? first.slice(-4) : "",
    fingerprint: fingerprintOf(text, `${organizationId}|${provider}`),
  };
}

/**
 * The place of a field, so that a ciphertext copied to another row, organization or field does not decrypt.
 */
const placeOf = (organizationId: string, credentialId: string, field: string) =>
  `${organizationId}|${credentialId}|${field}|v1`;

export function sealFields(organizationId: string, credentialId: string, fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      sealSecret(value, placeOf(organizationId, credentialId, field)),
    ]),
  );
}

/** Decrypts the fields. Throws if a field was changed, or was encrypted for another place. */
export function openFields(
  organizationId: string,
  credentialId: string,
  sealed: Fields,
): Record<string, Secret> {
  return Object.fromEntries(
    Object.entries(sealed).map(([field, value]) => [
      field,
      new Secret(openSecret(value, placeOf(organizationId, credentialId, field)).toString("utf8")),
    ]),
  );
}
