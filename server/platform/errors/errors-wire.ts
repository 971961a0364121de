import { ZodError, type z } from "zod";
import {
  type ErrorCode,
  Fault,
  INTERNAL_FAILURE,
  ValidationFault,
  type ValidationIssue,
} from "@/server/platform/errors/errors";
import { isOutage } from "@/server/platform/errors/outage";
import { publicUrl } from "@/server/platform/settings/env";
import { MISSING } from "./issue-words";

export type WireError = { status: number; headers: Record<string, string>; body: object };

/** Fields of every error at the top level, beside `detail`. */
export type ErrorHead = { code: string; message: string; requestId: string; docsUrl: string };

/** The head of an error's body. `docsUrl` is this installation's page about the code. */
export const errorHead = (code: ErrorCode, message: string, requestId: string): ErrorHead => ({
  code,
  message,
  requestId,
  docsUrl: `${publicUrl}/docs/errors/${code}.md`,
});

/**
 * The HTTP response for anything that was thrown: a Fault by its row, a validation list, an outage of our storage, or an opaque
 * 500 with only the request id. `atTopLevel` repeats details and guidance outside `detail` as well, as invoke and jobs do.
 */
export function toWire(error: unknown, requestId: string, atTopLevel = false): WireError {
  if (error instanceof Fault) return toWireFault(error, requestId, atTopLevel);
  const issues = issuesOfError(error);
  if (issues) {
    const head = errorHead("InvalidInput", issuesSummary(issues), requestId);
    return { status: 422, headers: {}, body: { ...head, detail: issues } };
  }
  if (isOutage(error)) return toWireFault(outageFault(error), requestId, atTopLevel);
  return toWireFault(new Fault("InternalFailure", INTERNAL_FAILURE, { requestId }), requestId, atTopLevel);
}

/** The most issues that a message names. */
const MOST_ISSUES = 10;
/** The longest message or name of an issue, which may quote the request. */
const MOST_CHARACTERS = 500;

/** Summarizes issues in one message: `messages[0].content: Field required`. */
export function issuesSummary(issues: ValidationIssue[]): string {
  const said = issues
    .slice(0, MOST_ISSUES)
    .map(({ loc, msg }) => cut([issueName(loc), msg].filter(Boolean).join(": ")));
  if (issues.length > MOST_ISSUES) said.push(`And ${issues.length - MOST_ISSUES} more.`);
  return said.join(" ");
}

const cut = (text: string) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…` : text;

/** The place of an issue in OpenAI's notation, `messages[0].content`, without the part of the request, such as `body`. */
export function issueName([, ...path]: (string | number)[]): string {
  const name = path
    .map((part, place) => (typeof part === "number" ? `[${part}]` : place === 0 ? part : `.${part}`))
    .join("");
  return cut(name);
}

/** The error for a database or file store that cannot be reached. */
export function outageFault(cause: unknown): Fault {
  return new Fault(
    "ServiceUnavailable",
    "The service cannot reach its own storage. Retry in a few seconds, with the same idempotencyKey if the request has one.",
    { retryAfterSeconds: 5 },
    { cause },
  );
}

function toWireFault(fault: Fault, requestId: string, atTopLevel: boolean): WireError {
  const { row, code, message, details } = fault;
  const plain = {
    code,
    message,
    ...guidanceOf(fault),
    ...(Object.keys(details).length > 0 ? { details } : {}),
  };
  const body = {
    ...errorHead(code, message, requestId),
    detail: row.inline ? { ...details, code, message } : plain,
    ...(atTopLevel ? plain : {}),
    ...(code === ("IdempotencyConflict" satisfies ErrorCode) ? { jobId: details.jobId } : {}),
  };
  const retryAfter = typeof details.retryAfterSeconds === "number" ? String(details.retryAfterSeconds) : null;
  const executionId = typeof details.executionId === "string" ? details.executionId : null;
  const headers = {
    ...(retryAfter ? { "retry-after": retryAfter } : {}),
    ...(executionId ? { "x-execution-id": executionId } : {}),
    ...fault.headers,
  };
  return { status: row.status, headers, body };
}

/**
 * Guidance for a client, beside the code. Clients assume that a 429 or 5xx is safe to retry unless it says otherwise, and a lost
 * answer is not. The ids of a failed execution's record are where clients look for them.
 */
function guidanceOf({ row, details }: Fault): Record<string, unknown> {
  const { executionId, receiptId, retryAfterSeconds, alternates } = details;
  return {
    ...(row.status === 429 || row.status >= 500 ? { retryable: row.retryable, nextAction: row.next } : {}),
    ...(Array.isArray(alternates) ? { recovery: { alternates } } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(executionId === undefined ? {} : { executionId, receiptId }),
  };
}

/** The validation list of an error; null if it has none. */
export function issuesOfError(error: unknown): ValidationIssue[] | null {
  if (error instanceof ValidationFault) return error.issues;
  // Thrown by a schema inside a domain function: the exact place in the request is unknown, but the value came with the body.
  if (error instanceof ZodError) return new ValidationFault(toValidationIssues(error.issues, "body")).issues;
  return null;
}

type Where = "body" | "query" | "path" | "header";

/** Converts schema issues to their wire form; `where` is the part of the request that was parsed. */
export function toValidationIssues(issues: readonly z.core.$ZodIssue[], where: Where): ValidationIssue[] {
  return issues.flatMap((issue) => toIssue(issue, where));
}

function toIssue(issue: z.core.$ZodIssue, where: Where): ValidationIssue | ValidationIssue[] {
  const loc = [where, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  if (isMissing(issue)) return { loc, msg: MISSING, type: "missing" };
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ loc: [...loc, key], msg: issue.message, type: "extra_forbidden" }));
    case "invalid_type":
      return { loc, msg: issue.message, type: `${issue.expected}_type` };
    case "too_small":
      return {
        loc,
        msg: issue.message,
        type: isSized(issue.origin)
          ? `${issue.origin}_too_short`
          : issue.inclusive
            ? "greater_than_equal"
            : "greater_than",
        ctx: { minimum: Number(issue.minimum) },
      };
    case "too_big":
      return {
        loc,
        msg: issue.message,
        type: isSized(issue.origin)
          ? `${issue.origin}_too_long`
          : issue.inclusive
            ? "less_than_equal"
            : "less_than",
        ctx: { maximum: Number(issue.maximum) },
      };
    case "invalid_value":
      return { loc, msg: issue.message, type: issue.values.length > 1 ? "enum" : "literal_error" };
    case "invalid_format":
      return { loc, msg: issue.message, type: "string_pattern_mismatch", ctx: { format: issue.format } };
    case "not_multiple_of":
      return { loc, msg: issue.message, type: "multiple_of", ctx: { multipleOf: Number(issue.divisor) } };
    case "invalid_union": {
      const meant = optionMeant(issue);
      if (!meant) return { loc, msg: issue.message, type: "union_error" };
      return toValidationIssues(
        meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] })),
        where,
      );
    }
    default:
      return { loc, msg: issue.message, type: "value_error" };
  }
}

const isSized = (origin: string) => ["string", "array", "set", "map", "file", "object"].includes(origin);

/** The issues of the one union option that matches the kind of value given; null if none or several match. */
function optionMeant(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | null {
  const isOther = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === "invalid_type" || code === "invalid_value");
  const [meant, ...more] = issue.errors.filter((issues) => !issues.some(isOther));
  return meant && more.length === 0 ? meant : null;
}

/** Schemas run with `reportInput`; without it, only the message shows that a value is missing. */
function isMissing(issue: z.core.$ZodIssue): boolean {
  if (!("input" in issue)) return issue.message === MISSING;
  if (issue.code === "invalid_union" && issue.discriminator !== undefined)
    return !Object.hasOwn(Object(issue.input), issue.discriminator);
  return issue.input === undefined;
}
