import type { RawEnvelope } from "@/server/contract/envelope";
import type { Incoming } from "../transport";
import { requestedProject } from "./ask";
import type { ModelRequest } from "./models/model";
import { withQueueDeadline } from "./queue-deadline";

/** The envelope of an input, on the requested model and in the requested project. */
export function toEnvelope(input: object, { named }: ModelRequest, incoming: Incoming): RawEnvelope {
  const envelope = {
    input,
    ...(named ? { execution: { executionConstraints: named } } : {}),
    context: { projectId: requestedProject(incoming) ?? null },
  };
  return withQueueDeadline(envelope as RawEnvelope, incoming); // safe: every member is parsed JSON
}
