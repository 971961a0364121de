/*
 * Removes tokens of known forms from refusals and log lines, no matter whose they are: a key that was pasted in place of a name is
 * neither repeated nor logged.
 */

const HIDDEN = "[redacted]";

/*
 * The first form matches our keys, device sessions, panel sessions and launch codes: their prefix with 32 characters, or with 12
 * that mix digits and both cases, unlike names that people choose. The others match vendors' keys by prefix and length.
 */
const RUN = "[0-9A-Za-z]";
const MIXED = "(?=[A-Za-z]*[0-9])(?=[0-9a-z]*[A-Z])(?=[0-9A-Z]*[a-z])";
const TOKEN = new RegExp(
  [
    `(?:cap_(?:[a-z0-9-]{1,63}_)?|(?:cap[sp]|plc)_)(?:${RUN}{32,}|${MIXED}${RUN}{12,})(?:_${RUN}+)?`,
    `sk-(?=[0-9A-Za-z_-]{0,32}${RUN}{16})[0-9A-Za-z_-]{16,}`,
    `(?:[sr]k_(?:live|test)|whsec)_${RUN}{16,}`,
    `(?:hf_|r8_|gsk_|xai-|ghp_)${RUN}{30,}`,
    "AIza[0-9A-Za-z_-]{30,}",
    `github_pat_${RUN}{22}[0-9A-Za-z_]*`,
  ]
    .map((form) => `(?<![0-9A-Za-z])${form}`)
    .join("|"),
  "g",
);

/** Length of the shortest token of any form: most names and values are shorter, and are not searched. */
const SHORTEST = 16;

/** Replaces the tokens in a text. */
export function redactText(text: string): string {
  if (text.length < SHORTEST) return text;
  return text.replace(TOKEN, HIDDEN);
}

/** Replaces the tokens in a value that is to become JSON, in names and texts; returns the same value if it has none. */
export function redactTokens<T>(value: T): T {
  if (typeof value === "string") return redactText(value) as T & string;
  if (Array.isArray(value)) {
    let clean: unknown[] | undefined; // most values have no token, and are not copied
    for (const [place, each] of value.entries()) {
      const shown = redactTokens(each);
      if (shown === each) continue;
      clean ??= [...value];
      clean[place] = shown;
    }
    return (clean as T & unknown[]) ?? value;
  }
  if (!isPlain(value)) return value;
  let clean: [string, unknown][] | undefined;
  for (const [place, name] of Object.keys(value).entries()) {
    const [shownName, shown] = [redactText(name), redactTokens(value[name])];
    if (shownName === name && shown === value[name]) continue;
    clean ??= Object.entries(value);
    clean[place] = [shownName, shown];
  }
  return clean ? (Object.fromEntries(clean) as T & object) : value;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
