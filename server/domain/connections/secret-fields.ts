import { Secret } from "@/server/platform/crypto/secret";
import { fingerprintOf, openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { ValidationFault } from "@/server/platform/errors/errors";
import type { Provider } from "@/server/providers/provider";

/** What no key has and no header takes: the usual sign of something pasted along with it. */
const PRINTABLE = /^[\x20-\x7e]*$/;
/** The last characters of a shorter secret would reveal too much. */
const SHOWN_FROM = 12;

type Fields = Record<string, string>;

const refuse = (msg: string): never => {
  throw new ValidationFault([{ loc: ["body", "secret"], msg, type: "value_error" }]);
};

/** The fields of a provider's credentials from the one text callers send. What it says of a wrong one never quotes it. */
export function readSecret(provider: Provider, secret: string): Fields {
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

/** What may be shown of a secret: enough for its owner to tell it from others. */
export function shownOf(provider: string, organizationId: string, fields: Fields) {
  const text = JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  const first = Object.values(fields)[0] ?? "";
  return {
    last4: first.length >= SHOWN_FROM ? first.slice(-4) : "",
    fingerprint: fingerprintOf(text, `${organizationId}|${provider}`),
  };
}

/** A field's place, so that a ciphertext copied to another row, organization or field does not open. */
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

/** Throws where a field was changed, or sealed for another place. */
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
