import { countEnd } from "@/server/platform/log/metrics";
import { failpoint } from "@/server/platform/settings/failpoint";
import { noteExhausted } from "./call";
import type { CallFailed, CallPending, CallRefused, Ending, NewEnding } from "./call-outcome";
import type { CallTerms } from "./classify";
import type { Transition } from "./decide";

/** The result of one turn, for the worker that holds the execution. */
export type Next<Sealed> =
  /**
   * `written`: the end that this turn wrote; absent if it wrote none. `isUnsent`: this process had sent
   * nothing.
   */
  { state: "ended"; written?: Sealed; isUnsent?: true } | { state: "again" | "pending"; afterMs: number };

/**
 * The statements and the seal of one execution. Durable jobs, synchronous calls and pinned executions each
 * have their own, which decide nothing. A statement returns false if another process has the execution.
 */
export type Store<Answer, End, Sealed> = {
  now(): Date;
  /** Null if no provider is called. */
  called: Pick<CallTerms, "route" | "account"> | null;
  /** Lets the call be sent again after this wait, because nothing ran. */
  release(refused: CallRefused, waitMs: number): Promise<boolean>;
  /** Lets the call be sent again on the standard tier. */
  standard(refused: CallFailed): Promise<boolean>;
  keepHandle(pending: CallPending): Promise<boolean>;
  /** Stores a complete answer, and what follows from it. */
  answer(answer: Answer): Promise<Next<Sealed>>;
  requeue(): Promise<Next<Sealed>>;
  /** Corrects the submission that another process may have assumed. */
  correctUnsent(): Promise<void>;

  /** The forms in which this ending may be written, in the order in which they are tried. */
  ends(ending: NewEnding): AsyncIterable<End>;
  /** Makes the receipt or record of this end. */
  seal(end: End): Promise<Sealed>;
  /** Writes the whole end in one statement; if it returns false, nothing was written. */
  finish(sealed: Sealed): Promise<boolean>;
  /** Stores what this process learned even though another end came first. */
  late(end: End): Promise<void>;
};

/** Stores a decision about an execution. */
export async function apply<Answer, End extends Counted, Sealed>(
  store: Store<Answer, End, Sealed>,
  transition: Transition<Answer>,
): Promise<Next<Sealed>> {
  switch (transition.to) {
    case "answered":
      return store.answer(transition.answer);
    case "ended":
      if (transition.exhausted && store.called)
        await noteExhausted(store.called, transition.exhausted, store.now());
      return end(store, transition.ending);
    case "waiting":
      return again(await store.release(transition.refused, transition.afterMs), transition.afterMs);
    case "standard":
      return again(await store.standard(transition.refused), 0);
    case "taken":
      await store.keepHandle(transition.pending);
      return transition.ending
        ? end(store, transition.ending)
        : { state: "pending", afterMs: transition.pending.pollAfterMs };
    case "queued":
      return store.requeue();
    case "left":
      if (!transition.isUnsent) return { state: "ended" };
      await store.correctUnsent();
      return { state: "ended", isUnsent: true };
  }
}

const again = (isHeld: boolean, afterMs: number) =>
  isHeld ? ({ state: "again", afterMs } as const) : ({ state: "ended" } as const);

/** Metrics count an end by these labels. */
type Counted = { mode: string; status: string; code: string | null };

/**
 * Ends an execution exactly once, with its record. Nothing is `written` if another end came first or the lease
 * was lost.
 */
export async function end<E extends Ending, End extends Counted, Sealed>(
  store: Pick<Store<never, End, Sealed>, "seal" | "finish" | "late"> & {
    ends(ending: E): AsyncIterable<End>;
  },
  ending: E,
): Promise<{ state: "ended"; written?: Sealed }> {
  for await (const form of store.ends(ending)) {
    const written = await store.seal(form);
    failpoint("before-receipt");
    if (await store.finish(written)) {
      countEnd(form.mode, form.status, form.code);
      return { state: "ended", written };
    }
    await store.late(form);
  }
  return { state: "ended" };
}
