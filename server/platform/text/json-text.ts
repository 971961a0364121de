/* JSON texts of other programs, including those that parsers read in different ways or not at all. */

/**
 * Parses the JSON of a server. A byte order mark is skipped (RFC 8259 8.1), and `NaN` and infinities, which Python writes, become
 * null. Throws SyntaxError.
 */
export function parseForeignJson(text: string): unknown {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return JSON.parse(bare);
  } catch (error) {
    const numbered = withoutNonNumbers(bare);
    if (numbered === bare) throw error;
    return JSON.parse(numbered);
  }
}

const NON_NUMBER = /"|-?\b(?:NaN|Infinity)\b/g;

function withoutNonNumbers(text: string): string {
  const pattern = new RegExp(NON_NUMBER);
  let numbered = "";
  let taken = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    if (found[0] === '"') {
      pattern.lastIndex = afterString(text, found.index);
      continue;
    }
    numbered += `${text.slice(taken, found.index)}null`;
    taken = pattern.lastIndex;
  }
  return taken === 0 ? text : numbered + text.slice(taken);
}

/** The place after the string that begins at `start`; the end of the text if it is never closed. */
function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === '"') return at + 1;
  }
  return text.length;
}

const TOKEN = /["{}[\],]|-?\d[\d.eE+-]*/g;

/**
 * Finds what a JSON text says and its parsed value does not, in words after "contains": an integer whose digits change beyond
 * 2^53 (RFC 7493 2.2), or a member given twice (2.3). Null if the value says all of it. For texts that JSON.parse accepts.
 */
export function lossIn(text: string): string | null {
  const pattern = new RegExp(TOKEN);
  const open: (Set<string> | null)[] = [];
  let isKeyNext = false;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') {
      const end = afterString(text, found.index);
      pattern.lastIndex = end;
      const keys = open.at(-1);
      if (!isKeyNext || !keys) continue;
      isKeyNext = false;
      const key = JSON.parse(text.slice(found.index, end)); // its quotes make it a string
      if (keys.has(key)) return "the same member twice";
      keys.add(key);
    } else if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      isKeyNext = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isKeyNext = false;
    } else if (token === ",") isKeyNext = Boolean(open.at(-1));
    else if (isChanged(token)) return "an integer beyond 2^53 whose digits would change";
  }
  return null;
}

/** True if a number prints as another integer than it was written; false for `6.02e23`. */
function isChanged(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value) || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return false;
  return decimalOf(literal) !== decimalOf(String(value));
}

/** Digits without outer zeros, and the power of ten of the last one. */
function decimalOf(literal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const bare = digits.replace(/0+$/, "");
  return `${bare}e${Number(exponent) - fraction.length + digits.length - bare.length}`;
}
