import { isObject } from "@/server/platform/text/json";
import { LIMIT_MEMBERS } from "../request-rules";

/* Reads from a server's error which members of a request it does not know. */

const MEMBERS = [...LIMIT_MEMBERS, "stream_options"] as const;
export type RefusableMember = (typeof MEMBERS)[number];

/** Maximum nesting of errors within each other and within texts that are JSON. */
const DEEPEST = 6;
/** The field in which pydantic repeats the caller's own values. */
const ECHO = "input";
/** Limits of what is examined, because an error inside an answer can be as long as an answer. */
const MOST_READ = 4_000;
const MOST_TEXTS = 256;

/**
 * The members that a refusal names as unknown or unsupported. A complaint about a value (`max_tokens is too large`)
 * names none: with the other member, a server might ignore the limit and the output would have none.
 */
export function refusedMembers({ status, body }: { status: number; body: unknown }): RefusableMember[] {
  if (status !== 400 && status !== 422) return [];
  const all = saidIn(body, 0);
  const said = { texts: all.texts.slice(0, MOST_TEXTS), entries: all.entries.slice(0, MOST_TEXTS) };
  return MEMBERS.filter(
    (member) =>
      said.entries.some((entry) => isEntryOf(entry, member)) ||
      said.texts.some((text) => FORMS[member].some((form) => form.test(text))),
  );
}

type Said = { texts: string[]; entries: Record<string, unknown>[] };

/** The texts and objects of an error down to `DEEPEST`, without the field `ECHO`. */
function saidIn(value: unknown, depth: number): Said {
  if (depth > DEEPEST) return { texts: [], entries: [] };
  if (typeof value === "string") {
    const text = value.slice(0, MOST_READ).replaceAll(/\s+/g, " ");
    // Proxies embed the error of their upstream as a text.
    const inner = /^\s*[{[]/.test(value) ? saidIn(jsonIn(value), depth + 1) : null;
    return { texts: [text, ...(inner?.texts ?? [])], entries: inner?.entries ?? [] };
  }
  if (typeof value !== "object" || value === null) return { texts: [], entries: [] };
  const found = Object.entries(value)
    .filter(([name]) => name !== ECHO)
    .map(([, each]) => saidIn(each, depth + 1));
  return {
    texts: found.flatMap(({ texts }) => texts),
    entries: [...(isObject(value) ? [value] : []), ...found.flatMap(({ entries }) => entries)],
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A structured error: pydantic's `loc` with its type, or OpenAI's `param` with its code. */
function isEntryOf(
  { loc, type, msg, param, code }: Record<string, unknown>,
  member: RefusableMember,
): boolean {
  if (Array.isArray(loc)) {
    const path = loc[0] === "body" ? loc.slice(1) : loc;
    return path[0] === member && /extra|forbidden|unknown|unrecogni[sz]ed/i.test(`${type} ${msg}`);
  }
  const isNamed = typeof param === "string" && param.split(".")[0] === member;
  return isNamed && /^(unsupported|unknown|unrecogni[sz]ed)_(parameter|argument|field)$/.test(`${code}`);
}

const UNKNOWN = "(?:unsupported|unrecogni[sz]ed|unknown|unexpected|extra|extraneous|additional|disallowed)";
const NOUN = "(?:parameter|argument|field|property|key|name|member|option|input)s?";
/**
 * Punctuation before a name. Its length is bounded, because two adjacent unbounded runs would backtrack quadratically.
 */
const OPEN = "(?:[ \"'`\u2018\u201c[(:=#/$.]|body[./]){0,16}";
/** Other members named before this one. */
const LIST = "[ :[(]{0,8}(?:[\"'`]?\\w+[\"'`]?, *)*";
/** Words after a member that complain about its value. */
const BOUND =
  "above|over|beyond|exceeding|greater|larger|higher|longer|bigger|more|below|under|less|lower|smaller|fewer|outside|between";
const CLOSE = "[\"'`\u2019\u201d\\])]*";

/**
 * Patterns of error sentences about an unknown member. Each requires the member near the complaint, so that other
 * members of the sentence do not count.
 */
function formsOf(member: RefusableMember): RegExp[] {
  const named = `${OPEN}\\b${member}\\b(?:\\.\\w+)?${CLOSE}`;
  const others = LIMIT_MEMBERS.filter((each) => each !== member).join("|");
  const form = (pattern: string) => new RegExp(pattern, "i");
  return [
    // Unsupported parameter: 'max_tokens'. Unrecognized request argument supplied: stream_options. Unknown name "x":
    // Cannot find field.
    form(
      `\\b${UNKNOWN}(?: request| json| body)? ${NOUN}(?: supplied| provided)?(?:: ${NOUN})?${LIST}${named}`,
    ),
    // property 'x' is unsupported. x: Extra inputs are not permitted. 'x' is not a valid field.
    form(
      `(?=${member}\\b)(?<!\\bvalues? (?:of|for)${OPEN})\\b${member}\\b(?:\\.\\w+)?${CLOSE}(?::? ${NOUN})?(?:: extra inputs are not permitted| (?:is|are) (?:(?:currently |an? )?(?:unsupported|unrecogni[sz]ed|unknown)|(?:currently )?not (?:supported|permitted|allowed|accepted|recogni[sz]ed|a valid ${NOUN})))(?! (?:to|for values?|${BOUND})\\b)`,
    ),
    // The model does not support x.
    form(
      `\\b(?:does not|doesn't|do not|cannot) (?:support|accept|take|allow|recogni[sz]e)(?: the)?(?: ${NOUN})?${named}(?!${CLOSE}\\s*(?:[<>=\\d]|(?:of|values?|${BOUND})\\b))`,
    ),
    // pydantic's list in Python notation.
    form(`extra_forbidden["'], *["']loc["']: *[[(]["']body["'], *["']${member}["']`),
    ...(member === "stream_options"
      ? []
      : [
          form(`\\b${member}\\b${CLOSE}[^.]{0,60}\\buse ${OPEN}(?:${others})\\b`),
          form(`\\b(?:${others})\\b${CLOSE} instead of ${OPEN}${member}\\b`),
        ]),
  ];
}

const FORMS = Object.fromEntries(MEMBERS.map((member) => [member, formsOf(member)])) as Record<
  RefusableMember,
  RegExp[]
>; // one entry per member
