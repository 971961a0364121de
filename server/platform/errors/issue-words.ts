import { z } from "zod";

/* Messages for the rules of schemas, in this product's words: one sentence that names the limit or the accepted values. */

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** The message of a field that is required and absent. */
export const MISSING = "Field required";

const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  tuple: "an array",
  object: "an object",
  record: "an object",
  map: "a map",
  set: "a set",
  date: "a date",
  file: "a file",
  null: "null",
  never: "absent",
};
const kindOf = (type: string) => KINDS[type] ?? type;

const UNITS: Record<string, [one: string, many: string]> = {
  string: ["character", "characters"],
  array: ["item", "items"],
  tuple: ["item", "items"],
  set: ["item", "items"],
  map: ["entry", "entries"],
  object: ["entry", "entries"],
  record: ["entry", "entries"],
  file: ["byte", "bytes"],
};

const FORMATS: Record<string, string> = {
  email: "an email address",
  url: "a URL",
  uuid: "a UUID",
  guid: "a UUID",
  datetime: "a date and time as ISO 8601 writes it, such as 2026-02-28T10:00:00Z",
  date: "a date as ISO 8601 writes it, such as 2026-02-28",
  time: "a time as ISO 8601 writes it, such as 10:00:00",
  duration: "a duration as ISO 8601 writes it, such as PT30S",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  cidrv4: "a range of IPv4 addresses",
  cidrv6: "a range of IPv6 addresses",
  base64: "base64",
  base64url: "base64url",
  json_string: "a string of JSON",
  lowercase: "in lower case",
  uppercase: "in upper case",
};

const ANY_OF = new Intl.ListFormat("en", { type: "disjunction" });
const quoted = (value: unknown) => (typeof value === "bigint" ? String(value) : JSON.stringify(value));
const oneOf = (values: readonly unknown[]) =>
  values.length === 1 ? `Must be ${quoted(values[0])}.` : `Use one of: ${values.map(quoted).join(", ")}.`;

/** Most names that a message lists. */
const MOST_NAMES = 60;

/** The message of an issue whose schema has none of its own. */
function wordsOf(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? MISSING : `Must be ${kindOf(issue.expected)}${received(issue)}.`;
    case "invalid_value":
      return issue.input === undefined ? MISSING : oneOf(issue.values);
    case "too_small":
      return atLeast(issue);
    case "too_big":
      return atMost(issue);
    case "invalid_format":
      return formatOf(issue);
    case "not_multiple_of":
      return `Must be a multiple of ${issue.divisor}.`;
    case "unrecognized_keys":
      return ["Unknown field. Remove it or check its spelling.", acceptedBy(issue)].filter(Boolean).join(" ");
    case "invalid_union":
      return issue.input === undefined ? MISSING : unionOf(issue);
    case "invalid_key":
      return "This name is not allowed here.";
    case "invalid_element":
      return "An entry is invalid.";
    default:
      return "This value is not allowed here.";
  }
}

function received({ expected, input }: RawIssue & { code: "invalid_type" }): string {
  const type = z.core.util.parsedType(input);
  // "not a number" would be misleading for 1.5, if a whole number is expected.
  return type in KINDS && expected !== "int" ? `, not ${kindOf(type)}` : "";
}

const figure = (bound: number | bigint) => bound.toLocaleString("en");

function sized(origin: string, bound: number | bigint): string | null {
  const unit = UNITS[origin];
  return unit ? `${figure(bound)} ${Number(bound) === 1 ? unit[0] : unit[1]}` : null;
}

function atLeast({ origin, minimum, inclusive, exact }: RawIssue & { code: "too_small" }): string {
  const size = sized(origin, minimum);
  if (size && exact) return `Exactly ${size}.`;
  if (origin === "string" && Number(minimum) === 1) return "This cannot be empty.";
  if (size) return `At least ${size}.`;
  return inclusive ? `At least ${figure(minimum)}.` : `More than ${figure(minimum)}.`;
}

function atMost({ origin, maximum, inclusive, exact }: RawIssue & { code: "too_big" }): string {
  const size = sized(origin, maximum);
  if (size) return `${exact ? "Exactly" : "At most"} ${size}.`;
  return inclusive ? `At most ${figure(maximum)}.` : `Less than ${figure(maximum)}.`;
}

function formatOf(issue: RawIssue & { code: "invalid_format" }): string {
  const { format, prefix, suffix, includes, pattern }: Record<string, unknown> = issue;
  if (format === "starts_with") return `Must start with ${quoted(prefix)}.`;
  if (format === "ends_with") return `Must end with ${quoted(suffix)}.`;
  if (format === "includes") return `Must contain ${quoted(includes)}.`;
  if (format === "regex") return `Must match the pattern ${pattern}.`;
  return `Must be ${FORMATS[String(format)] ?? `a valid ${format}`}.`;
}

/** Lists the fields of the object that has an unknown one. */
function acceptedBy({ inst }: RawIssue): string {
  const { shape = {} } = (inst?._zod.def ?? {}) as { shape?: object }; // only objects refuse fields
  const names = Object.keys(shape);
  if (names.length === 0) return "";
  const more = names.length > MOST_NAMES ? ", …" : "";
  return `Accepted here: ${names.slice(0, MOST_NAMES).join(", ")}${more}.`;
}

/** Says what the options of a union take here, if a few words suffice. */
function unionOf(issue: RawIssue & { code: "invalid_union" }): string {
  const { options, errors, inclusive }: typeof issue & { options?: unknown[]; inclusive?: boolean } = issue;
  if (options && options.length > 0) return oneOf(options);
  if (inclusive === false) return "Several of the accepted forms fit. Send one of them.";
  // Issues deeper inside are not reported, because the option that was meant is unknown.
  const firsts = errors.map(([first]) => (first?.path.length === 0 ? first : undefined));
  const values = firsts.flatMap((each) => (each?.code === "invalid_value" ? each.values : []));
  const types = firsts.flatMap((each) => (each?.code === "invalid_type" ? [kindOf(each.expected)] : []));
  if (values.length + types.length < errors.length) return "This is none of the accepted forms.";
  if (types.length === 0) return oneOf([...new Set(values)]);
  return `Must be ${ANY_OF.format([...new Set([...values.map(quoted), ...types])])}.`;
}

z.config({ localeError: wordsOf });
