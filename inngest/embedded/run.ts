import { ulid } from "@/server/ids";
import { type Catalog, type Entry, limitsOf } from "./catalog";
import { type Envelope, toEnvelope } from "./enqueue";
import { compile, field, toPlainMatch } from "./expressions";
import { type Execution, execute, type Memo, type Op, type Outcome, type Retriable } from "./sdk";
import { isUnstorable, type OwnedRun, type StepWrite, type Store } from "./store";
import { type Due, msUntil, toDue } from "./time";

/** What driving a run needs from the process it runs in. */
export type Host = {
  store: Store;
  catalog: Catalog;
  send: Execution["send"];
  backoffMs: (attempt: number) => number;
  isStopping: () => boolean;
  /** Look at the queue again after so many milliseconds: a timer of ours is due then. */
  lookAgainIn: (ms: number) => void;
};

type Failure = Extract<Outcome, { kind: "threw" }>;

/**
 * Drives an owned run as far as it goes: to its end, to a wait, or to the loss of the run. Goes from step to step in
 * process; every result is stored before the function sees it.
 */
export async function drive(run: OwnedRun, entry: Entry, host: Host): Promise<void> {
  const { store } = host;
  const memos: Memo[] = [];
  const pending = new Map<string, { op: string; attempt: number; due: boolean }>();
  let attempt = run.attempt;
  let lost = false;
  let unstorable: unknown;
  remember(run);

  function remember(loaded: OwnedRun): void {
    memos.length = 0;
    pending.clear();
    for (const step of loaded.steps) {
      if (step.status === "done") memos.push({ id: step.id, data: step.value });
      else if (step.status === "failed") memos.push({ id: step.id, error: step.value });
      else pending.set(step.id, { op: step.op, attempt: step.attempt, due: step.due === true });
    }
  }

  /** Stores steps and keeps memory equal to what is stored. False: the run is no longer ours. */
  async function save(steps: StepWrite[]): Promise<boolean> {
    if (!(await store.save(run, steps))) {
      lost = true;
      return false;
    }
    attempt = 0;
    for (const step of steps) {
      pending.delete(step.id);
      if (step.status === "done") memos.push({ id: step.id, data: step.value });
      else if (step.status === "failed") memos.push({ id: step.id, error: step.value });
      else pending.set(step.id, { op: step.op, attempt: step.attempt ?? 0, due: false });
    }
    lookAgainFor(steps);
    return true;
  }

  function lookAgainFor(steps: StepWrite[]): void {
    for (const step of steps) if (step.due) host.lookAgainIn(msUntil(step.due));
  }

  function call(options: { attempt: number; only?: string; discover?: boolean }): Promise<Outcome> {
    return execute({
      fn: entry.fn,
      handler: entry.handler,
      runId: run.id,
      event: run.event,
      maxAttempts: entry.maxAttempts,
      memos,
      async onStep(ops) {
        try {
          const saved = await save(ops.map((op) => toResult(op, options.attempt, true, host)));
          return saved && !host.isStopping();
        } catch (error) {
          if (!isUnstorable(error)) throw error; // the SDK tries again for a while
          unstorable = error;
          return false;
        }
      },
      send: host.send,
      ...options,
    });
  }

  /** Runs planned steps, each with its own attempts: together, or one by one where a limit counts steps. */
  async function runSteps(ids: string[]): Promise<Failure | undefined> {
    let failure: Failure | undefined;
    const runStep = async (id: string) => {
      if (lost || host.isStopping()) return;
      const tries = pending.get(id)?.attempt ?? 0;
      const outcome = await call({ attempt: tries, only: id });
      if (outcome.kind === "threw") failure = outcome;
      else if (outcome.kind === "ops")
        await save(outcome.ops.map((op) => toResult(op, tries, outcome.retriable, host)));
      else
        await save([
          { id, op: "run", status: "failed", value: { name: "Error", message: "This step is gone" } },
        ]);
    };
    if (entry.limits.length > 0) for (const id of ids) await runStep(id);
    else await Promise.all(ids.map(runStep));
    return failure;
  }

  async function fail(error: unknown): Promise<void> {
    await store.finish(run, "failed", error, [
      announce("inngest/function.failed", { error, event: run.event }),
      ...finished({ error }),
    ]);
  }
  function finished(data: Record<string, unknown>): Envelope[] {
    const envelope = announce("inngest/function.finished", data);
    return host.catalog.triggeredBy(envelope.event).length > 0 ? [envelope] : [];
  }
  function announce(name: string, data: Record<string, unknown>): Envelope {
    return toEnvelope({ name, data: { function_id: entry.id, run_id: run.id, ...data } });
  }

  /** The function body threw. Ends the run, or lets it rest before the next attempt. */
  async function retryOrFail({ error, retriable }: Failure): Promise<void> {
    if (retriable === false || attempt + 1 >= entry.maxAttempts) return fail(error);
    const due = retryDue(retriable, attempt + 1, host);
    await store.suspend(run, attempt + 1, due, []);
    host.lookAgainIn(msUntil(due));
  }

  try {
    await proceed();
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await fail({
      name: "NonRetriableError",
      message: `A result cannot be stored: ${error.message}`,
      stack: "",
    });
  }

  async function proceed(): Promise<void> {
    while (!lost) {
      if (host.isStopping()) return store.handOver(run, 0);
      const due = [...pending].filter(([, step]) => step.op === "run" && step.due).map(([id]) => id);
      if (due.length > 0) {
        const failure = await runSteps(due);
        if (failure) return retryOrFail(failure);
        continue;
      }
      const retriesAhead = [...pending.values()].some((step) => step.op === "run");
      const outcome = await call({ attempt, ...(retriesAhead && { discover: true }) });
      if (unstorable) throw unstorable;
      if (outcome.kind === "halted") continue;
      if (outcome.kind === "threw") return retryOrFail(outcome);
      if (outcome.kind === "step-missing") throw new Error("The SDK missed a step that nobody asked for");
      if (outcome.kind === "returned") {
        await store.finish(run, "completed", outcome.output, finished({ result: outcome.output }));
        return;
      }

      const results: StepWrite[] = [];
      const waits: StepWrite[] = [];
      const planned: string[] = [];
      for (const op of outcome.ops) {
        if (isResult(op)) {
          const result = toResult(op, attempt, outcome.retriable, host);
          (result.status === "pending" ? waits : results).push(result);
        } else if (op.op === "StepPlanned") {
          if (!pending.has(op.id)) planned.push(op.id);
        } else if (!pending.has(op.id)) {
          const wait = toWait(op, run, host.catalog);
          if ("refused" in wait) return fail({ name: "NonRetriableError", message: wait.refused, stack: "" });
          (wait.status === "pending" ? waits : results).push(wait);
        }
      }
      if (results.length > 0) {
        await save([...results, ...waits]);
      } else if (planned.length > 0) {
        if (waits.length > 0 && !(await save(waits))) return;
        const failure = await runSteps(planned);
        if (failure) return retryOrFail(failure);
      } else {
        const state = await store.suspend(run, attempt, null, waits);
        if (state !== "again") return lookAgainFor(waits);
        const loaded = await store.reload(run);
        if (!loaded) return;
        remember(loaded);
      }
    }
  }
}

function isResult(op: Op): boolean {
  return op.op === "StepRun" || op.op === "StepError" || op.op === "StepFailed";
}

/** What a step that was run leaves behind: a result, a final error, or a retry to come. */
function toResult(op: Op, attempt: number, retriable: Retriable, host: Host): StepWrite {
  if (op.op === "StepRun") return { id: op.id, op: "run", status: "done", value: op.data ?? null };
  if (op.op === "StepFailed") return { id: op.id, op: "run", status: "failed", value: op.error };
  return {
    id: op.id,
    op: "run",
    status: "pending",
    attempt: attempt + 1,
    due: retryDue(retriable, attempt + 1, host),
  };
}

function retryDue(retriable: Retriable, attempt: number, host: Host): Due {
  if (typeof retriable !== "string") return { ms: host.backoffMs(attempt) };
  return /^\d+$/.test(retriable) ? { ms: Number(retriable) * 1_000 } : toDue(retriable); // RetryAfterError
}

/** What a run asks to wait for, as the row that remembers it. */
function toWait(op: Op, run: OwnedRun, catalog: Catalog): StepWrite | { refused: string } {
  const opts = op.opts ?? {};
  if (op.op === "Sleep") return { id: op.id, op: "sleep", status: "pending", due: toDue(op.name ?? "") };
  if (op.op === "WaitForEvent") {
    const wait = { id: op.id, op: "event", status: "pending", eventName: op.name ?? "" } as const;
    const due = { due: toDue(String(opts.timeout)) };
    if (typeof opts.if !== "string") return { ...wait, ...due };
    const plain = toPlainMatch(opts.if);
    if (plain) {
      return {
        ...wait,
        ...due,
        matchPath: plain.async,
        matchValue: plain.event.reduce(field, run.event) ?? null,
      };
    }
    try {
      compile(opts.if);
    } catch (error) {
      return { refused: String(error) };
    }
    return { ...wait, ...due, condition: opts.if };
  }
  if (op.op === "InvokeFunction") {
    const child = catalog.byId.get(String(opts.function_id));
    if (!child) {
      const message = `There is no function "${opts.function_id}" to invoke`;
      return { id: op.id, op: "invoke", status: "failed", value: { name: "Error", message } };
    }
    const payload = opts.payload as { data?: Record<string, unknown> } | undefined; // made by the SDK's step.invoke
    const { event } = toEnvelope({ name: "inngest/function.invoked", data: {} });
    const childEvent = { ...event, data: payload?.data ?? {} };
    return {
      id: op.id,
      op: "invoke",
      status: "pending",
      ...(typeof opts.timeout === "string" && { due: toDue(opts.timeout) }),
      child: { id: ulid(), function_id: child.id, ...limitsOf(child, childEvent) },
      childEvent,
    };
  }
  return { refused: `The embedded engine does not support ${op.op} steps` };
}
