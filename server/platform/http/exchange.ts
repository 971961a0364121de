import type { Dispatcher } from "undici";
import { decoding } from "./decoder";

/*
 * One request and its response: no retry, no redirect, no pipelining, no timeout except the caller's signal. Its main
 * promise: it reports `unsent` only if no byte can have left.
 */

const MOST_DRAINED_BYTES = 64 * 1024;
const HANG_UP_MS = 5_000;
/** Time in which a response must end after its reader's `soon`. */
const GRACE_MS = 2_000;

export type Sending = {
  pool: Dispatcher;
  origin: string;
  path: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  signal: AbortSignal;
  /**
   * Decodes a body in gzip, deflate or br, although none is requested. The reader gets decoded bytes, so that its limit counts
   * these, and no `content-encoding`. If absent, the reader gets the bytes as sent.
   */
  decodes?: true;
};

export type HttpAnswer = { status: number; header(name: string): string | null };

/**
 * A reader's verdict on what it received. `soon`: the reader has what it needs, and still reads what follows within a short
 * grace; however the connection ends then, the outcome is `answered`. A later `more` takes that back. `enough`: the rest is
 * discarded until the server ends, within a few seconds. `stop`: the connection is closed immediately.
 */
export type Wish = "more" | "soon" | "enough" | "stop";

/** Reads a response as it arrives; must not throw. */
type Reader = {
  onHead?(answer: HttpAnswer): Wish;
  onChunk(chunk: Buffer, answer: HttpAnswer): Wish;
  /** Called if the bytes do not fit their content coding, or end before it does; the outcome is `answered`, without the rest. */
  onCorrupt?(): void;
};

type Outcome =
  /** The response ended, or its reader has what it needs. */
  | { state: "answered"; answer: HttpAnswer }
  | { state: "unsent"; error: unknown; isStopped: boolean }
  /** At least partly sent, or about to be; the answer did not come, or broke off after its head. */
  | { state: "lost"; answer: HttpAnswer | null; error: unknown; isStopped: boolean };

type Controller = Dispatcher.DispatchController;
type Headers = Record<string, string | string[] | undefined>;

/** Sends a request once. Never rejects. */
export function exchange(
  { pool, signal, headers, decodes, ...request }: Sending,
  reader: Reader,
): Promise<Outcome> {
  return new Promise((settle) => {
    if (signal.aborted) return settle({ state: "unsent", error: null, isStopped: true });

    // Set by onRequestStart, which undici calls on a connected socket right before it writes. If unset, nothing was sent.
    let started: Controller | null = null;
    let isSettled = false;
    let answer: HttpAnswer | null = null;
    let drained = 0;
    let hangUp: NodeJS.Timeout | undefined;
    let grace: NodeJS.Timeout | undefined;

    const finish = (outcome: Outcome) => {
      if (isSettled) return;
      isSettled = true;
      settle(outcome);
    };
    const fail = (error: unknown) =>
      finish(
        started
          ? { state: "lost", answer, error, isStopped: signal.aborted }
          : { state: "unsent", error, isStopped: false },
      );
    const close = () => {
      signal.removeEventListener("abort", stop);
      clearTimeout(hangUp);
      clearTimeout(grace);
    };
    const stop = () => {
      if (started) started.abort(new Error("stopped"));
      // The request still waits for a connection: it is given up now, and aborted in onRequestStart if its turn comes.
      else finish({ state: "unsent", error: null, isStopped: true });
    };
    const heed = (wish: Wish, answer: HttpAnswer, controller: Controller) => {
      if (wish === "more") {
        clearTimeout(grace);
        grace = undefined;
        return;
      }
      if (wish === "soon") {
        grace ??= setTimeout(() => heed("stop", answer, controller), GRACE_MS).unref();
        return;
      }
      finish({ state: "answered", answer });
      if (wish === "stop") controller.abort(new Error("enough"));
      // Closes the connection if the server does not.
      else hangUp ??= setTimeout(() => controller.abort(new Error("over")), HANG_UP_MS).unref();
    };

    const onCorrupt = (controller: Controller) => {
      reader.onCorrupt?.();
      if (answer) heed("stop", answer, controller);
    };

    const handler = {
      onRequestStart(controller: Controller) {
        // Aborting here sends no byte: undici checks before it writes.
        if (isSettled || started) {
          controller.abort(new Error("stopped"));
          return;
        }
        started = controller;
      },
      onResponseStart(controller: Controller, status: number, received: Headers) {
        if (status < 200) return;
        answer = { status, header: (name) => first(received[name]) };
        if (reader.onHead) heed(reader.onHead(answer), answer, controller);
      },
      onResponseData(controller: Controller, chunk: Buffer) {
        if (isSettled) {
          drained += chunk.byteLength;
          if (drained > MOST_DRAINED_BYTES) controller.abort(new Error("enough"));
        } else if (answer) heed(reader.onChunk(chunk, answer), answer, controller);
      },
      onResponseEnd() {
        close();
        if (answer) finish({ state: "answered", answer });
      },
      onResponseError(_controller: Controller, error: Error) {
        const isWhole = grace !== undefined && answer !== null;
        close();
        if (isWhole && answer) return finish({ state: "answered", answer });
        fail(error);
      },
    };

    signal.addEventListener("abort", stop);
    try {
      pool.dispatch(
        {
          ...request,
          headers: { "accept-encoding": "identity", "user-agent": "capstan", ...headers },
        },
        decodes ? decoding(handler, { isDone: () => isSettled, onCorrupt }) : handler,
      );
    } catch (error) {
      close();
      fail(error);
    }
  });
}

const first = (value: string | string[] | undefined) =>
  typeof value === "string" ? value : (value?.[0] ?? null);
