import type { OpenAIError } from "@/server/contract/openai";
import {
  ERRORS,
  type ErrorCode,
  Fault,
  isErrorCode,
  isRepeatable,
  type ValidationIssue,
} from "@/server/platform/errors/errors";
import {
  type ErrorHead,
  issueName,
  issuesOfError,
  issuesSummary,
  toWire,
  type WireError,
} from "@/server/platform/errors/errors-wire";

/* Our errors in the shape that OpenAI's clients read, with our status, code and details. */

type ErrorFacts = {
  code: string;
  message: string;
  param?: string | null;
  details?: Record<string, unknown>;
} & Partial<Pick<ErrorHead, "requestId" | "docsUrl">>;

const TYPES: Record<number, string> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  429: "rate_limit_error",
};

const typeOf = (status: number) =>
  TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");

/** The body of an error, which can also be an event in a stream. */
export function toOpenAIError({
  code,
  message,
  param = null,
  details,
  requestId,
  docsUrl,
}: ErrorFacts): OpenAIError {
  const status = isErrorCode(code) ? ERRORS[code].status : 500;
  const given = details && Object.keys(details).length > 0 ? { details } : {};
  const head = requestId === undefined ? {} : { requestId, docsUrl };
  return { error: { message, type: typeOf(status), param, code, ...given, ...head } } as OpenAIError; // details are plain JSON
}

/**
 * Converts any error to `{error: {message, type, param, code}}`. Sets the `x-should-retry` header by the error's code unless
 * the error sets it: without the header, clients retry every 408, 409, 429 and 5xx.
 */
export function toOpenAIWire(error: unknown, requestId: string): WireError {
  const wire = toWire(error, requestId);
  const { status, headers } = wire;
  const facts = factsOf(error, wire);
  const again = { "x-should-retry": String(isRepeatable(facts.code)) };
  const { requestId: id, docsUrl } = wire.body as ErrorHead; // every error has them
  return {
    status,
    headers: { ...again, ...headers },
    body: toOpenAIError({ ...facts, requestId: id, docsUrl }),
  };
}

function factsOf(error: unknown, { body }: WireError): ErrorFacts {
  const issues = issuesOfError(error);
  if (issues) return factsOfIssues(issues);
  // Anything but a list of issues becomes a fault, ours or the generic one.
  const { code, message, details } = (body as { detail: Required<ErrorFacts> }).detail;
  const own = error instanceof Fault ? error.details : details;
  return { code, message, param: paramOf(code, own), details: own };
}

/** The facts of all validation errors, in this interface's terms. An error about the whole body names no parameter. */
function factsOfIssues(issues: ValidationIssue[]): ErrorFacts {
  const [first] = issues;
  const message = issuesSummary(issues.map((issue) => ({ ...issue, msg: wordsOf(issue) })));
  return {
    code: "InvalidInput" satisfies ErrorCode,
    message,
    param: (first && issueName(first.loc)) || null,
  };
}

const wordsOf = ({ msg, type }: ValidationIssue) =>
  type === "extra_forbidden" ? "This field is not supported here." : msg;

function paramOf(code: string, details: Record<string, unknown> | undefined): string | null {
  if (code === "UNKNOWN_CAPABILITY" || code === "ROUTE_UNAVAILABLE") return "model";
  return typeof details?.field === "string" ? details.field : null;
}
