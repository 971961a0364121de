import { tells } from "@/server/platform/crypto/redact-secrets";
import { type Answer, codeOf, PRIVATE_ADDRESS, whyUnreachable } from "@/server/platform/http";
import { HOUR_MS } from "@/server/platform/time/units";
import { type FaultKind, ProviderFault, type ProviderIo } from "./define";
import { vendorWords } from "./vendor-words";

/* The faults of exchanges with vendors, in our own words. */

const MAX_RETRY_AFTER_MS = HOUR_MS;
/** How the operator allows what is refused without it. */
export const ALLOW = "For a server on your own network, set ALLOW_PRIVATE_ADDRESSES=1.";
export const PRIVATE_REFUSED = `The provider's address is private, and private addresses are not allowed. ${ALLOW}`;

/** What a provider may say about its vendor's error answers; the words must be its own, never the vendor's. */
export type Explanation = { kind?: FaultKind; message?: string };
export type Explain = (answer: { status: number; body: unknown }) => Explanation | undefined;
type Header = Answer["header"];
type Io = Pick<ProviderIo, "credentials">;

/**
 * A short word of the provider (request id, model name) that may be shown and stored; null when it is no such word
 * or tells a credential.
 */
export function safeWord(value: string | null | undefined, io: Io): string | null {
  if (!value || value.length > 200 || !/^[\w.:/@+=-]+$/.test(value)) return null;
  return Object.values(io.credentials).some((secret) => tells(value, secret)) ? null : value;
}

/** The provider's own name for the request, where it tells one that may be shown. */
export function requestId(header: Header, io: Io): { providerRequestId?: string } {
  const id = safeWord(header("x-request-id") ?? header("request-id"), io);
  return id ? { providerRequestId: id } : {};
}

/** An answer that is not what its interface promises. Errors of readers are dropped: they may quote the provider. */
export const unreadable = ({ status, header }: Answer, io: Io, why: Error): ProviderFault =>
  new ProviderFault("failed", "attempted", "The provider's answer does not match its documented format.", {
    status,
    ...requestId(header, io),
    concerns: "request",
    cause: why,
  });

/** Name and code only: messages and fields of network errors may carry bytes of the provider. */
export function bareError(error: unknown): Error {
  const name = error instanceof Error ? error.name : "Error";
  return new Error(`${name} ${codeOf(error) || "unknown"}`);
}

/** Our own signal ended the call while nothing had left. */
export const stoppedBeforeSending = (): ProviderFault =>
  new ProviderFault("unreachable", "not_attempted", "The call was stopped before anything was sent.", {
    aborted: true,
  });

/** There was no connection. */
export const unreachable = (error: unknown): ProviderFault =>
  new ProviderFault(
    "unreachable",
    "not_attempted",
    codeOf(error) === PRIVATE_ADDRESS ? PRIVATE_REFUSED : whyUnreachable(error, "provider"),
    { cause: bareError(error) },
  );

/** It was sent, and no whole answer came. */
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
]);

/** What an error status says, and its body where the provider explains it: JSON, or the text of one that is none. */
export function faultOfAnswer(
  { status, header }: Answer,
  body: unknown,
  io: Io,
  explain?: Explain,
): ProviderFault {
  const retryAfterMs = retryAfter(header);
  const explained = explain?.({ status, body });
  const overloaded =
    status === 503 && (retryAfterMs !== undefined || words(body).some((word) => OVERLOADED.has(word)));
  const [kind, message]: [FaultKind, string] =
    status === 429 || status === 529 || overloaded
      ? ["capacity", "The provider has no capacity right now."]
      : status >= 300 && status < 400
        ? ["failed", "The provider answered with a redirect, and redirects are not followed."]
        : status === 408 || status >= 500
          ? ["failed", "The provider failed while working on the request."]
          : status === 401 || status === 403
            ? ["refused", "The provider rejected the credentials or their permissions."]
            : ["refused", "The provider rejected the request."];
  return new ProviderFault(
    explained?.kind ?? kind,
    "attempted",
    `${explained?.message ?? message} (HTTP ${status})`,
    {
      status,
      ...requestId(header, io),
      concerns: "request",
      vendor: vendorWords(body, io),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
}

/** `error.type` and `error.code` of the usual error bodies. */
function words(body: unknown): string[] {
  if (typeof body !== "object" || body === null || !("error" in body)) return [];
  const { error } = body;
  if (typeof error === "string") return [error];
  if (typeof error !== "object" || error === null) return [];
  return ["type" in error ? error.type : null, "code" in error ? error.code : null].filter(
    (word) => typeof word === "string",
  );
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; at most an hour. */
function retryAfter(header: Header): number | undefined {
  const exact = Number(header("retry-after-ms") || Number.NaN); // an empty header says nothing
  const value = header("retry-after");
  const seconds = Number(value || Number.NaN);
  const ms = Number.isFinite(exact)
    ? exact
    : Number.isFinite(seconds)
      ? seconds * 1000
      : value
        ? Date.parse(value) - Date.now()
        : Number.NaN;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS) : undefined;
}
