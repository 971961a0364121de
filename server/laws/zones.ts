/**
 * Parts of a statement that PostgreSQL reads in the time zone of its session; the name of each rule describes
 * the fault.
 */
const RULES: [name: string, find: (text: string) => string[]][] = [
  [
    "date_trunc without 'UTC'",
    (text) =>
      callsOf(text, "date_trunc").filter(
        (args) => !/^\s*'(micro|milli)?seconds?'/.test(args) && !/,\s*'UTC'(::text)?\s*$/.test(args),
      ),
  ],
  [
    "a field or a text of a time without AT TIME ZONE 'UTC'",
    (text) =>
      ["extract", "date_part", "to_char"]
        .flatMap((name) => callsOf(text, name).map((args) => `${name}(${args})`))
        // Seconds since 1970 are the same everywhere; `day` is the one column that is a date.
        .filter((call) => !/\(\s*'?epoch\b|AT TIME ZONE 'UTC'|^to_char\((max\()?day\b/i.test(call)),
  ],
  [
    "a cast to a date or a time without AT TIME ZONE 'UTC' before it",
    (text) =>
      [...text.matchAll(/(AT TIME ZONE 'UTC'(?:::text)?\)*|\$\w+)?::(date|time|timestamp)\b(?!\[| with)/gi)]
        .filter(([, before]) => !before)
        .filter((found) => !/^ (without time zone )?AT TIME ZONE 'UTC'/.test(after(text, found)))
        .map(([cast]) => cast),
  ],
  [
    "days or longer added to a time: they are 23 to 25 hours. Write hours, or AT TIME ZONE 'UTC' before them",
    (text) => [
      ...[...text.matchAll(/interval '[^']*'|'[^']*'::interval/gi)]
        .filter(([interval]) => /day|week|mon|year|decade|century/i.test(interval))
        .filter(({ index }) => !/AT TIME ZONE 'UTC'(::text)?\)? [-+] $/.test(text.slice(0, index)))
        .map(([interval]) => interval),
      ...callsOf(text, "make_interval").filter((args) => /\b(days|weeks|months|years) *=>/.test(args)),
    ],
  ],
  [
    "the session's date or zone",
    (text) =>
      [
        ...text.matchAll(
          /\bcurrent_date\b|\bcurrent_time\b(?!s)|\blocaltime(stamp)?\b|'(now|today|tomorrow|yesterday)'::|\bmake_timestamptz\(|\bto_date\(|\bage\(/gi,
        ),
      ].map(([word]) => word),
  ],
];

const after = (text: string, { index, 0: found }: RegExpExecArray) => text.slice(index + found.length);

/** The text between the parentheses of each call of a function. */
function callsOf(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`\\b${name}\\(`, "gi"))].map(({ index, 0: head }) => {
    const from = index + head.length;
    let depth = 1;
    let end = from;
    for (; end < text.length && depth > 0; end++) depth += { "(": 1, ")": -1 }[text[end]!] ?? 0;
    return text.slice(from, end - 1);
  });
}

/** Finds the places of an SQL text that depend on the time zone of the session, with the rule that each breaks. */
export const faultsOfZones = (text: string): string[] =>
  RULES.flatMap(([rule, find]) => find(text).map((found) => `${found.trim().slice(0, 80)}: ${rule}`));
