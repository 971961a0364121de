/*
 * Takes out of refusals and of lines of the log what has the form of a secret, no matter whose: a key pasted where a
 * name was asked for is not said back, and not written down.
 */

const HIDDEN = "[redacted]";

/*
 * Keys, device sessions, panel sessions and launch codes of ours: a run as long as theirs, or a shorter piece of one, which
 * names people choose do not look like. Then the keys of vendors that begin with a mark, in lengths that vendors give them.
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

/** The text without them. */
export function redactText(text: string): string {
  return text.replace(TOKEN, HIDDEN);
}

/** A value that is to become JSON without them, in names as in texts; the same value where it has none. */
export function redactTokens<T>(value: T): T {
  if (typeof value === "string") return redactText(value) as T & string;
  if (Array.isArray(value)) {
    const clean = value.map(redactTokens);
    return clean.some((each, place) => each !== value[place]) ? (clean as T & unknown[]) : value;
  }
  if (!isPlain(value)) return value;
  const clean = Object.entries(value).map(([name, each]) => [redactText(name), redactTokens(each)] as const);
  const isSame = Object.entries(value).every(
    ([name, each], place) => clean[place]?.[0] === name && clean[place]?.[1] === each,
  );
  return isSame ? value : (Object.fromEntries(clean) as T & object);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
