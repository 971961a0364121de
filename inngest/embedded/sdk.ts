import { type Inngest, type InngestFunction, version } from "inngest";
import type { types } from "inngest/internals";
import type { StoredEvent } from "./enqueue";

/**
 * The one seam to the SDK's insides: `createExecution`, the interface that `@inngest/test` is built on. It replays a
 * function over its memoized steps and says what comes next. In checkpointing mode it goes on by itself from step to
 * step, reporting each result to the client's API, which we stand in for. Pinned: another SDK version needs this
 * file read again and its tests run.
 */
const SUPPORTED_SDK = "4.24.0";

/** Throws when the installed SDK is not the one this seam was written against. */
export function assertSdk(): void {
  if (version !== SUPPORTED_SDK) {
    throw new Error(`The embedded engine supports inngest ${SUPPORTED_SDK}, not ${version}`);
  }
}

export type AnyFunction = InngestFunction.Any;
export type FunctionConfig = types.FunctionConfig;

/** What the SDK would register with a server for this function: itself and, if it has one, its failure handler. */
export function configsOf(fn: AnyFunction): FunctionConfig[] {
  return fn["getConfig"]({ baseUrl: new URL("http://embedded.invalid"), appPrefix: fn["client"].id });
}

/** A settled step, as replays need it. */
export type Memo = { id: string; data: unknown } | { id: string; error: unknown };

/** Something the function did or wants, with the id already hashed. */
export type Op = {
  id: string;
  op: string;
  name?: string;
  opts?: Record<string, unknown>;
  data?: unknown;
  error?: unknown;
};

/** False, true, or after how long (seconds or an instant). */
export type Retriable = boolean | string;

export type Outcome =
  | { kind: "returned"; output: unknown }
  | { kind: "threw"; error: unknown; retriable: Retriable }
  | { kind: "ops"; ops: Op[]; retriable: Retriable }
  | { kind: "step-missing" }
  | { kind: "halted" };

export type Execution = {
  fn: AnyFunction;
  handler: "main" | "failure";
  runId: string;
  event: StoredEvent;
  attempt: number;
  maxAttempts: number;
  memos: Memo[];
  /** Run exactly this step (hashed id) and nothing else. */
  only?: string;
  /** Report steps, run none. */
  discover?: boolean;
  /** A step has run: resolve once its result is stored; false stops the function here. */
  onStep: (ops: Op[]) => Promise<boolean>;
  send: (events: StoredEventInput[]) => Promise<string[]>;
};

export type StoredEventInput = { id?: string; name: string; data?: unknown; ts?: number };

/** Runs the function from its memos until it ends, needs something from outside, or is stopped. */
export async function execute(execution: Execution): Promise<Outcome> {
  const { fn, runId, event, attempt, maxAttempts, memos } = execution;
  const checkpointing = !execution.only && !execution.discover;
  let halted = false;
  // The function's own client in all but two things: step results and events come to us.
  const client: Inngest.Any = Object.create(fn["client"], {
    inngestApi: {
      value: {
        async checkpointStepsAsync({ steps }: { steps: Op[] }) {
          if (await execution.onStep(steps)) return;
          halted = true;
          throw Object.assign(new Error("This worker no longer owns the run"), {
            "~inngest": { kind: "StaleDispatchError" }, // the SDK's mark for: stop, do not retry
          });
        },
      },
    },
    _send: {
      async value({ payload }: { payload: unknown }) {
        const events: StoredEventInput[] = Array.isArray(payload) ? payload : [payload];
        for (const one of events)
          if ("validate" in one && typeof one.validate === "function") await one.validate();
        return { ids: await execution.send(events) };
      },
    },
  });
  // Casts in this call: the SDK exports the types of these options, not the enum behind `stepMode`, and its context
  // type asks for parts (logger, error) that it adds itself.
  const result = await fn["createExecution"]({
    partialOptions: {
      client,
      runId,
      data: { event, events: [event], runId, attempt, maxAttempts } as never,
      stepMode: (checkpointing ? "async_checkpointing" : "async") as types.StepMode,
      ...(checkpointing && { checkpointingConfig: { bufferedSteps: 1, maxRuntime: 0, maxInterval: 0 } }),
      internalFnId: fn.id(),
      queueItemId: runId,
      // Fresh objects: the SDK marks them while it replays.
      stepState: Object.fromEntries(memos.map((memo) => [memo.id, { ...memo }])),
      stepCompletionOrder: memos.map((memo) => memo.id),
      requestedRunStep: execution.only,
      disableImmediateExecution: execution.discover,
      handlerKind: execution.handler,
      reqArgs: [],
      headers: {},
    },
  }).start();
  if (halted) return { kind: "halted" };
  switch (result.type) {
    case "function-resolved":
      return { kind: "returned", output: result.data };
    case "function-rejected":
      return { kind: "threw", error: result.error, retriable: result.retriable };
    case "step-ran":
      return { kind: "ops", ops: [result.step], retriable: result.retriable ?? true };
    case "steps-found": {
      const complete = result.steps.find((step) => step.op === "RunComplete");
      return complete
        ? { kind: "returned", output: complete.data }
        : { kind: "ops", ops: result.steps, retriable: true };
    }
    case "step-not-found":
      return { kind: "step-missing" };
    default:
      throw new Error(`The SDK answered "${result.type}", which asynchronous execution never does`);
  }
}
