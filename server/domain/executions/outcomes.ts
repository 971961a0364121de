import { jittered } from "@/server/platform/durable/retry";
import type { ErrorCode } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import type { ProviderFault, SubmissionState } from "@/server/providers/define";

/*
 * The possible outcomes of a call to a provider, and what each means for the money and the next request.
 * Durable jobs, synchronous calls and pinned executions all read this table.
 */

/**
 * How the money of a call is settled: at its known `cost`; at the whole `hold`, because the cost is unknown;
 * `released`; `exposed`, which is released although the provider may charge the operator; or `ambiguous`,
 * which is unresolved.
 */
export type Settlement = "cost" | "hold" | "released" | "exposed" | "ambiguous";

type Row = {
  settlement: Settlement;
  /** Null if the capability provides the code, or if the outcome is not an error. */
  code: ErrorCode | null;
  submission: SubmissionState;
  /** Nothing ran and nothing was charged: the request may be sent again under a new key. */
  isSafe: boolean;
  /**
   * Nothing was sent for a reason of ours: the idempotency key is free again, and the same request runs anew.
   */
  freesKey?: true;
  /**
   * The code and submission state of a pinned record if they differ from a job's: a timeout after sending is
   * an ambiguous submission, and work that this installation stopped before sending is ProviderUnavailable.
   */
  pinned?: { code: ErrorCode; submission: SubmissionState };
};

const unsent = { settlement: "released", submission: "not_attempted", isSafe: true } as const;
const refused = { settlement: "released", submission: "attempted", isSafe: true } as const;
const charged = { settlement: "cost", submission: "attempted", isSafe: false } as const;
const exposed = { ...charged, settlement: "exposed" } as const;
const unknown = { settlement: "ambiguous", submission: "ambiguous", isSafe: false } as const;

export const OUTCOMES = {
  result: { ...charged, code: null },
  result_of_unknown_cost: { ...charged, settlement: "hold", code: null },

  /** The capability runs in this installation: no provider, no money. */
  ran_here: { ...unsent, code: null },
  /** The account or the model is gone, or this installation refused the call with a code of its own. */
  unsendable: { ...unsent, code: "ProviderUnavailable" },
  /** A source, the weights or the stored request is gone. */
  content_gone: { ...unsent, code: "PayloadUnavailable" },
  /** Our own port refused the request before anything left. */
  refused_unsent: { ...unsent, code: "ProviderRejected" },
  refused: { ...refused, code: "ProviderRejected" },
  /** The refusal reports usage, which is charged. */
  refused_after_work: { ...charged, code: "ProviderRejected" },
  /** The wait for capacity ended. */
  capacity: { ...refused, code: "ProviderUnavailable" },
  unreachable: { ...unsent, code: "ProviderUnavailable" },

  /** A complete answer that is an error, with its usage. */
  error_with_usage: { ...charged, code: "PROVIDER_ERROR" },
  /** An error without usage after text was delivered; an estimate of the delivered text is charged. */
  error_after_output: { ...charged, code: "PROVIDER_ERROR" },
  /** An error of unknown cost, or an answer that cannot be read. */
  error: { ...exposed, code: "PROVIDER_ERROR" },
  /** An error of unknown cost from a provider that is documented to bill its errors. */
  billed_error: { ...charged, settlement: "hold", code: "PROVIDER_ERROR" },
  /** A complete answer that is empty, or that the capability cannot use. */
  unusable: { ...charged, code: null },
  unusable_without_usage: { ...exposed, code: null },

  lost: { ...unknown, code: "TRANSPORT_AMBIGUOUS" },
  timed_out: {
    ...unknown,
    code: "ExecutionTimeout",
    submission: "attempted",
    pinned: { code: "TRANSPORT_AMBIGUOUS", submission: "ambiguous" },
  },
  timed_out_unsent: { ...unsent, code: "ExecutionTimeout" },
  canceled: { ...unknown, code: null },
  canceled_unsent: { ...unsent, code: null },
  /** The process stopped, or the request can no longer be read, before anything left. */
  stopped_unsent: {
    ...unsent,
    code: "InternalFailure",
    freesKey: true,
    pinned: { code: "ProviderUnavailable", submission: "not_attempted" },
  },
  /** The database was out, or the lease was lost, before anything left. */
  unavailable_unsent: {
    ...unsent,
    code: "ServiceUnavailable",
    freesKey: true,
    pinned: { code: "ProviderUnavailable", submission: "not_attempted" },
  },
} as const satisfies Record<string, Row>;

export type OutcomeKind = keyof typeof OUTCOMES;

/** Widens the row of a kind to its common type. */
export const rowOf = (kind: OutcomeKind): Row => OUTCOMES[kind];

export const kindOfResult = (costMicros: Micros | null): OutcomeKind =>
  costMicros === null ? "result_of_unknown_cost" : "result";

/** The outcome of a complete answer that cannot be used. */
export const kindOfUnusable = (costMicros: Micros | null): OutcomeKind =>
  costMicros === null ? "unusable_without_usage" : "unusable";

/**
 * The outcome of a fault. `costMicros`: the cost of the usage that the fault reports; null if there is none
 * or it has no price.
 */
export function kindOfFault(
  { kind, submission }: ProviderFault,
  costMicros: Micros | null,
  errorsAreBilled = false,
): OutcomeKind {
  switch (kind) {
    case "capacity":
    case "unreachable":
    case "lost":
      return kind;
    case "refused":
      if (submission === "not_attempted") return "refused_unsent";
      return costMicros === null ? "refused" : "refused_after_work";
    case "failed":
      if (costMicros !== null) return "error_with_usage";
      return errorsAreBilled ? "billed_error" : "error";
  }
}

/**
 * The effect of a fault on the health of its route; null if the request, the account or our own time limit
 * was at fault. A lack of capacity and an unreachable provider count only once the waits for them are
 * exhausted (`noteExhausted`).
 */
export function routeHealthAfter({ kind, details }: ProviderFault): "failed" | "lost" | null {
  if (details.aborted) return null;
  if (kind === "lost") return kind;
  const { status = 0 } = details;
  return kind === "failed" && (status >= 500 || status === 408) ? kind : null;
}

const BACKOFF_MS = { first: 500, most: 10_000 };

/**
 * Delay before a refused call is sent again: about as long as it has waited so far, up to a limit, but at
 * least as long as the provider asks for. The wait doubles without a counter, so another process can continue
 * it.
 */
export function backoffOf(waitedMs: number, retryAfterMs: number | null): number {
  const waitMs = Math.min(Math.max(0, waitedMs) + BACKOFF_MS.first, BACKOFF_MS.most);
  return Math.max(retryAfterMs ?? 0, jittered(waitMs));
}
