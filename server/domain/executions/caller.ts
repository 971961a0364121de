import { isPrivate } from "@/server/contract/envelope";
import type { Json } from "@/server/platform/durable/step";
import { Fault, fail, isErrorCode } from "@/server/platform/errors/errors";
import { receiptIdOf } from "@/server/platform/ids";
import type { ProviderMessage } from "./call-outcome";
import { type Clock, sleep } from "./clock";

/*
 * Errors and next steps for the caller of an execution, worded alike over HTTP, MCP, the CLI and the panel.
 */

const SAFE =
  "Nothing ran and nothing was charged: it is safe to send the request again with a new idempotency key.";

/**
 * The advice after a failed execution. `canRepeat`: nothing ran and nothing was charged, the only case in
 * which a new idempotency key is safe. `submission`: the submission state of the execution or its last
 * attempt, if there was one.
 */
export function nextStepOf(canRepeat: boolean, submission: string | null | undefined): string {
  if (canRepeat) return submission === "attempted" ? `${SAFE} Another model may accept it.` : SAFE;
  return submission === "ambiguous"
    ? "The provider may already have run this, and running it again could charge you twice. Read its record instead of sending it again."
    : "The provider worked on this and may charge for it. Fix the cause before you submit a new request, which is charged separately.";
}

/** The error for a caller that waited for the execution: its message, then the next step. */
export const faultOf = (
  { code, message }: { code: string | null; message: string | null },
  next: string,
  details: Record<string, unknown>,
): Fault =>
  new Fault(
    code !== null && isErrorCode(code) ? code : "InternalFailure",
    `${message ?? "The execution failed."} ${next}`,
    details,
  );

/** Throws the error for an execution whose end is unknown here: it may have run. */
export function failUnknown(executionId: string, message: string, details: Record<string, Json> = {}): never {
  fail("TRANSPORT_AMBIGUOUS", `${message} ${nextStepOf(false, "ambiguous")}`, {
    executionId,
    receiptId: receiptIdOf(executionId),
    ...details,
  });
}

/**
 * The error for an execution that was never sent, for a temporary reason of ours: the same request with the
 * same key runs anew.
 */
export const unsentFault = (executionId: string, details: Record<string, Json> = {}): Fault =>
  new Fault(
    "ServiceUnavailable",
    "The database did not answer in time, so nothing was sent to a provider and nothing is charged. Send the request again, with the same idempotencyKey if it has one.",
    { retryAfterSeconds: 5, executionId, receiptId: receiptIdOf(executionId), ...details },
  );

/**
 * Limits a provider's reply in error details: users of an embed get none of it, and private executions omit
 * the vendor's message. Null if there is no reply to show.
 */
export function visibleProviderMessage(
  job: { principal_kind: string; data_classification: string },
  said: ProviderMessage | null | undefined,
): ProviderMessage | null {
  if (!said || job.principal_kind === "panel_session") return null;
  if (!isPrivate(job.data_classification)) return said;
  const { message: _, ...rest } = said;
  return rest;
}

/** Adds the provider's reply to the details of an error; returns no `details` if both are empty. */
export function withSaid(
  details: Record<string, Json> | undefined,
  said: ProviderMessage | null,
): { details?: Record<string, Json> } {
  const whole = { ...details, ...(said ? { provider: said } : {}) };
  return Object.keys(whole).length > 0 ? { details: whole } : {};
}

const LOOK_MS = 100;
/**
 * Added to the time limit of an execution, so that its lease can end and the sweeper can end the execution.
 */
const MARGIN_MS = 60_000;

/**
 * Waits for an execution that an earlier request began. Null if it still runs a minute after its time limit.
 */
export async function awaitFirst<Row>(
  clock: Clock,
  look: () => Promise<Row>,
  isThere: (row: Row) => boolean,
  longestMs: (row: Row) => number,
): Promise<Row | null> {
  const beganAt = clock.elapsedMs();
  for (;;) {
    const row = await look();
    if (isThere(row)) return row;
    if (clock.elapsedMs() - beganAt > longestMs(row) + MARGIN_MS) return null;
    await sleep(clock, LOOK_MS);
  }
}
