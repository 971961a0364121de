import { z } from "zod";
import type { Json } from "@/server/platform/durable/step";
import { type Progress, ProviderFault, type ProviderIo, type Usage } from "../define";
import { getJson, parseReply, postJson, safeWord } from "../http";
import { explainSandboxError, MAX_FILES_BYTES, sandboxHeaders } from "./common";

/* Ports of the sandbox that accept work and answer later. */

const POLL_MS = 1_000;

const Taken = z.object({ id: z.string(), model: z.string() });
const Handle = z.object({ id: z.string() });
const Standing = z.discriminatedUnion("status", [
  z.object({ status: z.literal("working"), id: z.string(), percent: z.int() }),
  z.object({ status: z.literal("failed"), id: z.string() }),
  z.looseObject({ status: z.literal("done"), id: z.string(), model: z.string() }),
]);

export async function submitWork(path: string, call: object, io: ProviderIo): Promise<Progress<never>> {
  const reply = await postJson(io, path, {
    body: { model: io.model.id, ...call },
    headers: sandboxHeaders(io),
    explain: explainSandboxError,
  });
  const { id } = parseReply(Taken, reply, io);
  return { state: "pending", handle: { id }, pollAfterMs: POLL_MS };
}

/**
 * Polls the work's status; `read` makes result and usage from a complete answer. Throws ProviderFault if the work
 * failed.
 */
export async function pollWork<T, R>(
  handle: Json,
  io: ProviderIo,
  schema: z.ZodType<T>,
  read: (answer: T) => { result: R; usage: Usage | null },
): Promise<Progress<R>> {
  const { id } = Handle.parse(handle);
  const reply = await getJson(io, `/v1/work/${encodeURIComponent(id)}`, {
    headers: sandboxHeaders(io),
    explain: explainSandboxError,
    maxResponseBytes: MAX_FILES_BYTES,
  });
  const standing = parseReply(Standing, reply, io);
  if (standing.status === "working")
    return {
      state: "pending",
      handle: { id },
      pollAfterMs: POLL_MS,
      progress: { phase: "provider", step: "working", percent: standing.percent },
    };
  if (standing.status === "failed")
    throw new ProviderFault("failed", "attempted", "This sandbox model fails every request.");
  const answer = parseReply(schema, reply, io);
  return {
    state: "done",
    ...read(answer),
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(standing.model, io),
    httpStatus: reply.status,
  };
}
