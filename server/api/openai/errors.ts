import type { OpenAIError } from "@/server/contract/openai";
import {
  ERRORS,
  type ErrorCode,
  Fault,
  isErrorCode,
  isRepeatable,
  type ValidationIssue,
} from "@/server/errors";
import { issuesOf, toWire, type WireError } from "@/server/errors-wire";

/* Our errors in the shape that OpenAI's clients read, with our status, code and details. */

type Told = { code: string; message: string; param?: string | null; details?: Record<string, unknown> };

const TYPES: Record<number, string> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  429: "rate_limit_error",
};

const typeOf = (status: number) =>
  TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");

/** The body of an error, also in the middle of a stream. */
export function toOpenAIError({ code, message, param = null, details }: Told): OpenAIError {
  const status = isErrorCode(code) ? ERRORS[code].status : 500;
  const given = details && Object.keys(details).length > 0 ? { details } : {};
  return { error: { message, type: typeOf(status), param, code, ...given } } as OpenAIError; // details are plain JSON
}

/**
 * Anything thrown, as `{error: {message, type, param, code}}`. Each says whether the request may be retried, by its code
 * unless the error overrides it: otherwise clients retry every 408, 409, 429 and 5xx automatically.
 */
export function toOpenAIWire(error: unknown, requestId: string): WireError {
  const wire = toWire(error, requestId);
  const { status, headers } = wire;
  const told = toldOf(error, wire);
  const again = { "x-should-retry": String(isRepeatable(told.code)) };
  return { status, headers: { ...again, ...headers }, body: toOpenAIError(told) };
}

function toldOf(error: unknown, { body }: WireError): Told {
  const issues = issuesOf(error);
  if (issues) return toldOfIssues(issues);
  // Anything but a list of issues becomes a fault, ours or the generic one.
  const { code, message, details } = (body as { detail: Required<Told> }).detail;
  const own = error instanceof Fault ? error.details : details;
  return { code, message, param: paramOf(code, own), details: own };
}

const INVALID = "InvalidInput" satisfies ErrorCode;

/** The most issues reported for one request. */
const MOST_ISSUES = 10;
/** The longest message or name, which may quote the request. */
const MOST_CHARACTERS = 500;

function toldOfIssues(issues: ValidationIssue[]): Told {
  const [first] = issues;
  const said = issues
    .slice(0, MOST_ISSUES)
    .map((issue) => cut([nameOf(issue.loc), wordsOf(issue)].filter(Boolean).join(": ")));
  if (issues.length > MOST_ISSUES) said.push(`And ${issues.length - MOST_ISSUES} more.`);
  // An error about the whole body names no parameter.
  return { code: INVALID, message: said.join(" "), param: cut((first && nameOf(first.loc)) ?? "") || null };
}

const cut = (text: string) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…` : text;

const wordsOf = ({ msg, type }: ValidationIssue) =>
  type === "extra_forbidden" ? "This field is not supported here." : msg;

/** `messages[0].content`, as OpenAI writes it. */
function nameOf([, ...path]: (string | number)[]): string {
  return path
    .map((part, place) => (typeof part === "number" ? `[${part}]` : place === 0 ? part : `.${part}`))
    .join("");
}

function paramOf(code: string, details: Record<string, unknown> | undefined): string | null {
  if (code === "UNKNOWN_CAPABILITY" || code === "ROUTE_UNAVAILABLE") return "model";
  return typeof details?.field === "string" ? details.field : null;
}
