import { tells } from "@/server/platform/crypto/redact-secrets";
import { codeOf, type HttpAnswer, PRIVATE_ADDRESS, whyUnreachable } from "@/server/platform/http";
import { type Delivered, type FaultKind, ProviderFault, type ProviderIo, type Usage } from "./define";
import { asksToWait, retryAfter } from "./retry-after";
import { vendorWords } from "./vendor-words";

/* Faults of exchanges with vendors, with texts of our own. */

/** Tells the operator how to allow a refused private address. */
export const ALLOW = "For a server on your own network, set ALLOW_PRIVATE_ADDRESSES=1.";
export const PRIVATE_PROVIDER_REFUSED = `The provider's address is private, and private addresses are not allowed. ${ALLOW}`;

/** A provider's explanation of a vendor's error. Its text must be the provider's own, never the vendor's. */
export type Explanation = { kind?: FaultKind; message?: string };
export type Explain = (answer: { status: number; body: unknown }) => Explanation | undefined;
type Header = HttpAnswer["header"];
type Io = Pick<ProviderIo, "credentials">;

/**
 * A short word from the vendor (request id, model name) that is safe to show and store; null if it is malformed or
 * contains a credential.
 */
export function safeWord(value: string | null | undefined, io: Io): string | null {
  if (!value || value.length > 200 || !/^[\w.:/@+=-]+$/.test(value)) return null;
  return Object.values(io.credentials).some((secret) => tells(value, secret)) ? null : value;
}

/** The vendor's request id, if there is one that is safe to show. */
export function requestId(header: Header, io: Io): { providerRequestId?: string } {
  const id = safeWord(header("x-request-id") ?? header("request-id"), io);
  return id ? { providerRequestId: id } : {};
}

/** An answer that violates its interface. The cause must not quote the vendor. */
export const unreadable = ({ status, header }: HttpAnswer, io: Io, why: Error): ProviderFault =>
  new ProviderFault("failed", "attempted", "The provider's answer does not match its documented format.", {
    status,
    ...requestId(header, io),
    concerns: "request",
    cause: why,
  });

/** Keeps only name and code, because messages and fields of network errors can contain the vendor's bytes. */
export function bareError(error: unknown): Error {
  const name = error instanceof Error ? error.name : "Error";
  return new Error(`${name} ${codeOf(error) || "unknown"}`);
}

/** Our own signal ended the call before anything was sent. */
export const stoppedBeforeSending = (): ProviderFault =>
  new ProviderFault("unreachable", "not_attempted", "The call was stopped before anything was sent.", {
    aborted: true,
  });

/** No connection was made. */
export const unreachable = (error: unknown): ProviderFault =>
  new ProviderFault(
    "unreachable",
    "not_attempted",
    codeOf(error) === PRIVATE_ADDRESS ? PRIVATE_PROVIDER_REFUSED : whyUnreachable(error, "provider"),
    { cause: bareError(error) },
  );

/** The request was sent, and no complete answer arrived. */
export function lost(error: unknown, aborted: boolean): ProviderFault {
  const message = aborted
    ? "The wait for the provider's answer was ended."
    : "The connection was lost before the provider's answer was complete.";
  return new ProviderFault("lost", "ambiguous", message, {
    ...(aborted ? { aborted } : {}),
    cause: bareError(error),
  });
}

const OVERLOADED = new Set([
  "overloaded",
  "overloaded_error",
  "server_overloaded",
  "engine_overloaded",
  "slow_down",
  "unavailable_error", // llama.cpp while it loads a model
]);

/**
 * Error codes, in lower case, of an account without credit, for which waiting does not help, even if the status is 429.
 * They are used by OpenAI, Moonshot, MiniMax, DashScope, Volcengine and Zhipu (1113).
 */
const NO_CREDIT = new Set([
  ...[
    "insufficient_quota",
    "exceeded_current_quota_error",
    "billing_hard_limit_reached",
    "billing_not_active",
  ],
  ...["insufficient_balance", "insufficient_balance_error", "insufficient_credits", "insufficient_funds"],
  ...["arrearage", "accountoverdueerror", "1113"],
]);

/** The meaning of a status without further words of the vendor. */
function meaningOf(status: number, isOverloaded: boolean): [FaultKind, string] {
  if (status === 429 || status === 529 || isOverloaded)
    return ["capacity", "The provider has no capacity right now."];
  if (status >= 300 && status < 400)
    return ["refused", "The provider answered with a redirect, and redirects are not followed."];
  if (status === 408 || status >= 500) return ["failed", "The provider failed while working on the request."];
  if (status === 401 || status === 403)
    return ["refused", "The provider rejected the credentials or their permissions."];
  if (status === 402) return ["refused", SPENT];
  return [
    "refused",
    status === 413 ? "The request is larger than the provider allows." : "The provider rejected the request.",
  ];
}

const SPENT = "The provider's account has no credit left, or too little for this request.";

/** The fault of an error status. `body` is its JSON or its text; `explain` can interpret it. */
export function faultOfAnswer(
  { status, header }: HttpAnswer,
  body: unknown,
  io: Io,
  explain?: Explain,
): ProviderFault {
  const said = words(body);
  const isOverloaded = status === 503 && (asksToWait(header) || said.some((word) => OVERLOADED.has(word)));
  const isSpent = status >= 400 && status < 500 && said.some((word) => NO_CREDIT.has(word.toLowerCase()));
  const [usual, sentence] = isSpent ? (["refused", SPENT] as const) : meaningOf(status, isOverloaded);
  const explained = explain?.({ status, body });
  // An explanation of the status alone cannot tell missing credit from missing capacity.
  const isExplained = explained !== undefined && !(isSpent && explained.kind === undefined);
  const kind = (isExplained ? explained.kind : undefined) ?? usual;
  const retryAfterMs = kind === "capacity" ? retryAfter(header, body) : undefined;
  return new ProviderFault(
    kind,
    "attempted",
    `${(isExplained ? explained.message : undefined) ?? sentence} (HTTP ${status})`,
    {
      status,
      ...requestId(header, io),
      concerns: "request",
      vendor: vendorWords(body, io),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
}

/** An error inside an answer with status 200: its body, and the HTTP status that the error names, or null. */
export type SaidError = { body: unknown; status: number | null };

/** The HTTP status that an error code means, if the error names no status. */
const STATUS_OF_WORD: Record<string, number> = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  rate_limit: 429,
  too_many_requests: 429,
  RESOURCE_EXHAUSTED: 429,
  overloaded_error: 529,
  overloaded: 529,
  server_overloaded: 529,
  engine_overloaded: 529,
  unavailable_error: 503,
  invalid_request_error: 400,
  content_filter: 400,
  content_policy_violation: 400,
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  invalid_api_key: 401,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  // MiniMax, https://platform.minimax.io/docs/api-reference/errorcode
  "1002": 429,
  "1004": 401,
  "1008": 402,
  "2013": 400,
};

/**
 * The fault of an error inside an answer. Before any output it has the kind of its status or code. After output it is
 * `failed`, because the provider has worked and the request must not be sent again.
 */
export function faultOfSaid(
  said: SaidError,
  { header }: HttpAnswer,
  io: Io,
  {
    explain,
    usage = null,
    delivered = null,
  }: { explain?: Explain | undefined; usage?: Usage | null; delivered?: Delivered | null },
): ProviderFault {
  const status =
    said.status ??
    words(said.body)
      .map((word) => (NO_CREDIT.has(word.toLowerCase()) ? 402 : STATUS_OF_WORD[word]))
      .find(Boolean) ??
    500;
  const { kind, message, details } = faultOfAnswer({ status, header }, said.body, io, explain);
  const sentence = message.replace(/ \(HTTP \d+\)$/, ""); // the status belongs to the error, not to the answer
  if (!delivered && kind !== "failed") return new ProviderFault(kind, "attempted", sentence, details);
  const before = { usage, ...(delivered ? { delivered } : {}) };
  return new ProviderFault("failed", "attempted", sentence, { ...details, ...before });
}

/** `type`, `code` and `status` of the usual error bodies; Google also sends a list with one body. */
function words(body: unknown): string[] {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof first !== "object" || first === null) return [];
  const error = "error" in first ? first.error : "detail" in first ? first.detail : first;
  if (typeof error === "string") return [error];
  if (typeof error !== "object" || error === null) return [];
  return ["type", "code", "status"]
    .map((name) => (error as Record<string, unknown>)[name]) // the checks above leave an object
    .flatMap((word) => (typeof word === "string" || typeof word === "number" ? [String(word)] : []));
}
