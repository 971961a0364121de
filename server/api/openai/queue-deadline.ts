import type { RawEnvelope } from "@/server/contract/envelope";
import { ValidationFault } from "@/server/platform/errors/errors";
import { textHeader } from "../header-lines";
import type { Incoming } from "../transport";

export const QUEUE_DEADLINE_HEADER = "x-capstan-queue-deadline-seconds";
const MOST_SECONDS = 7_200;

/**
 * Adds how long the caller waits for a provider without capacity. OpenAI's bodies have no field for an envelope's
 * `queueDeadlineSeconds`, so a header carries it.
 */
export function withQueueDeadline(envelope: RawEnvelope, incoming: Incoming): RawEnvelope {
  const given = textHeader(incoming, QUEUE_DEADLINE_HEADER);
  if (!given) return envelope;
  const queueDeadlineSeconds = Number(given);
  if (!/^\d{1,4}$/.test(given) || queueDeadlineSeconds < 1 || queueDeadlineSeconds > MOST_SECONDS)
    throw new ValidationFault([
      {
        loc: ["header", QUEUE_DEADLINE_HEADER],
        msg: `Send whole seconds from 1 to ${MOST_SECONDS}.`,
        type: "value_error",
      },
    ]);
  const { executionConstraints } = (envelope.execution ?? {}) as { executionConstraints?: object }; // made by `toInvoke` or `toEnvelope`
  const execution = { executionConstraints: { ...executionConstraints, queueDeadlineSeconds } };
  return { ...envelope, execution };
}
