import { ValidationFault } from "@/server/platform/errors/errors";

type Spelled = {
  credentials?: Record<string, string> | string | null | undefined;
  secret?: string | null | undefined;
};

/**
 * Returns the secret given as `credentials` or as `secret`. Both may be given if they mean the same. Throws a
 * `ValidationFault`, which contains neither value, if both are missing or they differ.
 */
export function spelledSecret({ credentials, secret }: Spelled): string {
  const spelled = [
    ...(credentials == null
      ? []
      : [typeof credentials === "string" ? credentials : JSON.stringify(credentials)]),
    ...(secret == null ? [] : [secret]),
  ];
  const [first, second] = spelled;
  if (first === undefined)
    return refuse("secret", "Send the key as secret, or its fields as credentials.", "missing");
  if (second !== undefined && meaningOf(first) !== meaningOf(second))
    return refuse(
      "credentials",
      "credentials and secret have different values. Send one of them.",
      "value_error",
    );
  return first;
}

/**
 * Returns a form in which equal secrets are equal texts: a key alone equals an object with only that key, and the order
 * of fields does not matter.
 */
function meaningOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  let fields: unknown;
  try {
    fields = JSON.parse(trimmed);
  } catch {
    return trimmed; // the text is refused later, when it is read
  }
  const entries = Object.entries(fields as Record<string, unknown>).map(([name, value]) => [
    name,
    String(value).trim(),
  ]); // the text begins like an object
  const [only] = entries;
  return entries.length === 1 && only?.[1] !== undefined ? only[1] : JSON.stringify(entries.sort());
}

function refuse(field: string, msg: string, type: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
}
