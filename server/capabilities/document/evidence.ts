/* Does a quote stand in a document, and does a value say what was expected? */

export type Place = { page: number; start: number; end: number };

/** Where a quote stands, whatever white space is between its words; null: it does not. Offsets are of the page's text. */
export function placeOf(pages: string[], quote: string): Place | null {
  const wanted = quote.trim().replace(/\s+/gu, " ");
  if (wanted === "") return null;
  for (const [index, text] of pages.entries()) {
    const { plain, origins } = squeezed(text);
    const at = plain.indexOf(wanted);
    const [first, last] = [origins[at], origins[at + wanted.length - 1]];
    if (at >= 0 && first !== undefined && last !== undefined)
      return { page: index + 1, start: first, end: last + 1 };
  }
  return null;
}

/** A text with each run of white space as one space, and where each of its letters was. */
function squeezed(text: string): { plain: string; origins: number[] } {
  let plain = "";
  const origins: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const isSpace = /\s/u.test(text[at] ?? "");
    if (isSpace && plain.endsWith(" ")) continue;
    plain += isSpace ? " " : text[at];
    origins.push(at);
  }
  return { plain, origins };
}

/** The same text, the same number (with units that do not contradict each other), or the same day. */
export function saysSame(expected: string | number, found: string): boolean {
  const wanted = String(expected);
  if (plainText(wanted) === plainText(found)) return true;
  const [a, b] = [datesIn(wanted), datesIn(found)];
  if (a.length > 0 && b.length > 0) return a.some((day) => b.includes(day));
  const [left, right] = [numberIn(wanted), numberIn(found)];
  if (!left || !right) return false;
  const unitsAgree = left.unit === "" || right.unit === "" || left.unit === right.unit;
  return unitsAgree && left.values.some((value) => right.values.includes(value));
}

const plainText = (text: string) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, " ")
    .trim();

const SIGNS: Record<string, string> = { "€": "eur", $: "usd", "£": "gbp", "¥": "jpy" };

/** The one number of a text, in every way its separators can be read, with what stands around it. */
function numberIn(text: string): { values: number[]; unit: string } | null {
  const found = [...text.matchAll(/[-+−]?\d[\d.,'’\u00a0\u202f ]*\d|[-+−]?\d/g)];
  const [only] = found;
  if (!only || found.length > 1) return null;
  const written = only[0].replace(/−/g, "-").replace(/['’\s]/g, "");
  const rest = text.replace(only[0], " ").trim().toLowerCase();
  const unit = [...rest].map((sign) => SIGNS[sign] ?? sign).join("").trim();
  return { values: [...new Set(readings(written))], unit };
}

function readings(written: string): number[] {
  const decimal = (sign: "." | ",") => {
    const other = sign === "." ? "," : ".";
    const [whole, ...fractions] = written.replaceAll(other, "").split(sign);
    return fractions.length === 1 ? [Number(`${whole}.${fractions[0]}`)] : [];
  };
  const [dot, comma] = [written.lastIndexOf("."), written.lastIndexOf(",")];
  if (dot < 0 && comma < 0) return [Number(written)];
  if (dot >= 0 && comma >= 0) return decimal(dot > comma ? "." : ",");
  const sign = dot >= 0 ? "." : ",";
  const parts = written.split(sign);
  const isGrouped = parts.slice(1).every((part) => part.length === 3);
  const whole = isGrouped ? [Number(parts.join(""))] : [];
  return parts.length === 2 ? [...whole, ...decimal(sign)] : whole;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const two = (value: number) => String(value).padStart(2, "0");

/** The day a text names, as ISO dates; both, where day and month can be read either way. */
function datesIn(text: string): string[] {
  const plain = text.trim().toLowerCase();
  const day = (y: number, m: number, d: number) => {
    const date = new Date(Date.UTC(y, m - 1, d));
    const isReal = date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
    return isReal ? [`${y}-${two(m)}-${two(d)}`] : [];
  };
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:t.*)?$/.exec(plain);
  if (iso) return day(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(plain);
  if (dotted) return day(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(plain);
  if (slashed) {
    const [a, b, year] = [Number(slashed[1]), Number(slashed[2]), Number(slashed[3])];
    return [...new Set([...day(year, a, b), ...day(year, b, a)])];
  }
  const worded =
    /^(\d{1,2})(?:st|nd|rd|th|\.)?\s+([a-z]{3,9})\.?,?\s+(\d{4})$/.exec(plain) ??
    /^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/.exec(plain);
  if (!worded) return [];
  const [first = "", second = "", year] = worded.slice(1);
  const [number, name] = /^\d/.test(first) ? [first, second] : [second, first];
  const month = MONTHS.indexOf(name.slice(0, 3)) + 1;
  return month === 0 ? [] : day(Number(year), month, Number(number));
}
