import type { Core, Schemas } from "./core";
import { CapstanError, RunFailedError } from "./errors";
import { follow, type StreamFrame } from "./events";
import { type RequestOptions, type Run, receiptOf, submission } from "./run";

export type StreamOptions = RequestOptions & {
  signal?: AbortSignal | undefined;
  /** The delay before reconnecting, in ms; grows with each further connection without a new frame. 500 by default. */
  reconnectMs?: number | undefined;
};

/** A streaming execution. It continues even if it is not read; it can be read only once. */
export type StreamRun = AsyncIterable<StreamFrame> & {
  executionId: string;
  /** The text in pieces; together they are the complete output. Throws RunFailedError if the execution fails. */
  text(): AsyncGenerator<string>;
  /** Reads the rest and returns the result. Throws RunFailedError if the execution failed. */
  result<Output = unknown>(): Promise<Run<Output>>;
};

/** An older service does not report the charge. */
type EndFrame<Output> = { typedOutput: Output; charge?: Schemas["Charge"] };

const LAST = new Set(["execution.succeeded", "execution.failed"]);

/** Starts a streaming execution and follows its frames to the last one, reconnecting as needed. */
export async function startStream(
  core: Core,
  capability: string,
  input: Record<string, unknown>,
  options: StreamOptions = {},
): Promise<StreamRun> {
  const { signal } = options;
  const init = submission(core, capability, input, options);
  const { executionId } = await core.post("/v1/capabilities/{capability_key}/invoke", {
    ...init,
    body: { ...init.body, executionMode: "Stream" },
  });
  const url = `${core.base}/v1/executions/${encodeURIComponent(executionId)}/events`;
  const hasEnded = (last: StreamFrame | null) => last !== null && LAST.has(last.event);
  let end: StreamFrame | undefined;

  async function* read(): AsyncGenerator<StreamFrame> {
    for await (const frame of follow(core.transport, url, options, hasEnded)) {
      if (LAST.has(frame.event)) end = frame;
      yield frame;
    }
  }
  const frames = read();

  return {
    executionId,
    [Symbol.asyncIterator]: () => frames,
    async *text() {
      for await (const { event, data } of frames) {
        const piece = event === "token" ? (data as { text?: unknown }).text : undefined; // the API documents this member
        if (typeof piece === "string") yield piece;
      }
      if (end?.event === "execution.failed") throw failed(executionId, end);
    },
    async result<Output>() {
      for await (const _ of frames);
      if (!end)
        throw new CapstanError("Reading the stream stopped before its end.", {
          status: 0,
          code: "StreamLeft",
          executionId,
        });
      if (end.event === "execution.failed") throw failed(executionId, end);
      const { typedOutput, charge = null } = end.data as EndFrame<Output>; // the API documents these members
      const receipt = await receiptOf(core, executionId, signal);
      return {
        id: executionId,
        capability,
        output: typedOutput,
        charge,
        receipt,
        artifacts: [],
        warnings: [],
      };
    },
  };
}

function failed(executionId: string, { data }: StreamFrame): RunFailedError {
  const { error, receiptId } = data as { error: Schemas["JobError"]; receiptId?: string }; // the API documents these members
  const { code, message, ...details } = error;
  return new RunFailedError(message, { status: 200, code, details, executionId, receiptId });
}
