/**
 * Compares as dates, numbers or text. If day and month or the separators of a number are ambiguous, either reading
 * counts. One side may have a unit that the other leaves out.
 */
export function saysSame(expected: string | number, found: string): boolean {
  const wanted = String(expected);
  const [day, foundDay] = [daysOf(wanted), daysOf(found)];
  if (day.length > 0 && foundDay.length > 0) return day.some((one) => foundDay.includes(one));
  const [left, right] = [numberOf(wanted, typeof expected === "number"), numberOf(found)];
  if (left && right)
    return unitsAgree(left, right) && left.readings.some((one) => right.readings.includes(one));
  return plainText(wanted) === plainText(found);
}

/** Evens out case, white space and punctuation, except characters that change a number: signs, separators and percent. */
function plainText(text: string): string {
  const even = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u00ad\u200b]/g, "")
    .replace(/[−–]/g, "-");
  const words = even
    .replace(/(?![-.,:/]\d|[%‰])\p{P}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return words === "" ? even.trim() : words;
}

type Amount = {
  /** Exact decimals as text, because identifiers have more digits than a float can hold. */
  readings: string[];
  before: string;
  after: string;
};

const CURRENCIES: Record<string, string> = { "€": "eur", $: "usd", "£": "gbp", "¥": "jpy" };
const isCurrency = (word: string) => /^(?:eur|usd|gbp|jpy|chf)$/.test(word);
const NUMBER =
  /(?:(?<![\p{L}\d])[-+])?(?:(?<![\p{L}\d.,])\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|(?<![\p{L}\d.,])\d+(?:[.,]\d+)*)/gu;

/** A text with exactly one number, and the words around it; null for any other text. */
function numberOf(text: string, isExact = false): Amount | null {
  const even = text
    .toLowerCase()
    .replace(/−/g, "-")
    .replace(/[€$£¥]/g, (sign) => ` ${CURRENCIES[sign]} `)
    .replace(/\b(eur|usd|gbp|jpy|chf)(?=\d)/g, "$1 ")
    .replace(/([-+])\s+(eur|usd|gbp|jpy|chf)\s+(?=\d)/g, "$2 $1");
  const [only, second] = even.matchAll(NUMBER);
  if (!only || second) return null;
  const written = only[0].replace(/['’\s]/g, "");
  const around = (part: string) => part.replace(/[^\p{L}\p{N}%‰°²³/-]+/gu, " ").trim();
  return {
    readings: isExact ? [decimal(written, ".")] : readingsOf(written),
    before: around(even.slice(0, only.index)),
    after: around(even.slice(only.index + only[0].length)),
  };
}

function unitsAgree(left: Amount, right: Amount): boolean {
  const [a, b] = [left, right].map(({ before, after }) =>
    isCurrency(before) ? { before: "", after: `${before} ${after}`.trim() } : { before, after },
  );
  if (a?.before !== b?.before) return false;
  if (a?.after === b?.after) return true;
  const [unit, other] = a?.after === "" ? [b?.after ?? "", ""] : [a?.after ?? "", b?.after];
  return other === "" && !unit.includes(" ") && a?.before === "";
}

function readingsOf(written: string): string[] {
  const [dot, comma] = [written.lastIndexOf("."), written.lastIndexOf(",")];
  if (dot < 0 && comma < 0) return [decimal(written, ".")];
  if (dot >= 0 && comma >= 0) {
    const [sign, other] = dot > comma ? [".", ","] : [",", "."];
    return written.split(sign).length === 2 ? [decimal(written.replaceAll(other, ""), sign)] : [];
  }
  const sign = dot >= 0 ? "." : ",";
  const [first = "", ...groups] = written.replace(/^[-+]/, "").split(sign);
  const isGrouped = /^[1-9]\d{0,2}$/.test(first) && groups.every((group) => group.length === 3);
  return [
    ...(isGrouped ? [decimal(written.replaceAll(sign, ""), sign)] : []),
    ...(groups.length === 1 ? [decimal(written, sign)] : []),
  ];
}

/** The shortest spelling of a number. */
function decimal(written: string, sign: string): string {
  const [whole = "", fraction = ""] = written.replace(/^[-+]/, "").split(sign);
  const [left, right] = [whole.replace(/^0+(?=\d)/, ""), fraction.replace(/0+$/, "")];
  const plain = right === "" ? left : `${left}.${right}`;
  return written.startsWith("-") && plain !== "0" ? `-${plain}` : plain;
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const WEEKDAY = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+/;

/** ISO dates that the text can mean: two if day and month are ambiguous, none if it is no date. */
function daysOf(text: string): string[] {
  const plain = text.trim().toLowerCase().replace(/\.$/, "").replace(WEEKDAY, "");
  const isoLike = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[t ]\d{1,2}:\d{2}.*)?$/.exec(plain);
  if (isoLike) return day(isoLike[1], Number(isoLike[3]), Number(isoLike[4]));
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(plain);
  if (dotted) return day(dotted[3], Number(dotted[2]), Number(dotted[1]));
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(plain);
  if (slashed) {
    const [a, b] = [Number(slashed[1]), Number(slashed[2])];
    return [...new Set([...day(slashed[3], a, b), ...day(slashed[3], b, a)])];
  }
  const dayFirst =
    /^(?:the\s+)?(\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?:day\s+)?(?:of\s+)?([a-z]{3,9})\.?,?[\s-]+(\d{4})$/.exec(
      plain,
    );
  if (dayFirst) return day(dayFirst[3], monthOf(dayFirst[2]), Number(dayFirst[1]));
  const monthFirst = /^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/.exec(plain);
  return monthFirst ? day(monthFirst[3], monthOf(monthFirst[1]), Number(monthFirst[2])) : [];
}

/** The month by its name or the beginning of its name; 0 if there is none. */
const monthOf = (name = "") =>
  MONTHS.findIndex((month) => month.startsWith(name === "sept" ? "sep" : name)) + 1;

const two = (value: number) => String(value).padStart(2, "0");

function day(year = "", month: number, date: number): string[] {
  const made = new Date(Date.UTC(Number(year), month - 1, date));
  const isReal = made.getUTCMonth() === month - 1 && made.getUTCDate() === date;
  return isReal ? [`${year}-${two(month)}-${two(date)}`] : [];
}
