/** The base64 characters that depend on this text alone, for each alignment among other bytes. */
function base64Parts(value: string, encoding: "base64" | "base64url"): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]).toString(encoding);
    return encoded.replace(/=+$/, "").slice(before === 0 ? 0 : before + 1, -1);
  });
}

/**
 * Forms in which a secret may be written: plain, hex, base64 at any alignment, base64url, percent-encoded for URLs, and escaped
 * for JSON. Some forms are equal.
 */
export function formsOf(value: string): [form: string, text: string][] {
  const hex = Buffer.from(value).toString("hex");
  const bytes = hex.replaceAll(/../g, "%$&");
  return [
    ["plain", value],
    ["JSON", JSON.stringify(value).slice(1, -1)],
    ["an address", encodeURIComponent(value)],
    ["an address, byte by byte", bytes],
    ["an ADDRESS, byte by byte", bytes.toUpperCase()],
    ["hex", hex],
    ["HEX", hex.toUpperCase()],
    ...base64Parts(value, "base64").map((text): [string, string] => ["base64", text]),
    ...base64Parts(value, "base64url").map((text): [string, string] => ["base64url", text]),
  ];
}
