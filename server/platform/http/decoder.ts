import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Dispatcher } from "undici";

/*
 * Decodes bodies that come compressed although none was requested, as proxies send them. undici's own interceptor is not used: it
 * is marked experimental, knows deflate in one of its two forms, and reports a corrupt body as a lost connection.
 */

/** Each piece is passed on as soon as it is decoded, because events must not wait for those after them. */
const ZLIB = { flush: constants.Z_SYNC_FLUSH };
const BROTLI = { flush: constants.BROTLI_OPERATION_FLUSH };

/** Each function makes a decoder of its coding for a body with the given first byte. */
const STREAMS: Record<string, (firstByte: number) => Transform> = {
  gzip: () => createGunzip(ZLIB),
  "x-gzip": () => createGunzip(ZLIB),
  // RFC 9110 8.4.1.2 requires zlib's format, but some servers send the bare data.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  br: () => createBrotliDecompress(BROTLI),
};

type Controller = Dispatcher.DispatchController;
type Handler = Required<
  Pick<Dispatcher.DispatchHandler, "onResponseStart" | "onResponseData" | "onResponseEnd" | "onResponseError">
> &
  Dispatcher.DispatchHandler;

type Decoding = {
  /** True once the handler needs no more of the body. Later bytes are passed on undecoded. */
  isDone(): boolean;
  /** Called if the bytes do not fit their coding, or end before it does. */
  onCorrupt(controller: Controller): void;
};

/**
 * Wraps a handler so that it receives a body in gzip, deflate or br decoded, and its headers without `content-encoding`. The
 * handler's end and error come after the last decoded byte. Bodies in other codings are passed on unchanged.
 */
export function decoding(handler: Handler, { isDone, onCorrupt }: Decoding): Dispatcher.DispatchHandler {
  let make: ((firstByte: number) => Transform) | undefined;
  let stream: Transform | null = null;
  let conclude: (() => void) | undefined;
  let isLost = false;

  const stop = (controller: Controller) => {
    stream?.destroy();
    controller.resume();
    conclude?.();
  };
  const open = (decoder: Transform, controller: Controller) =>
    decoder
      .on("data", (chunk: Buffer) => {
        if (!isDone()) handler.onResponseData(controller, chunk);
        if (isDone()) stop(controller);
      })
      .on("end", () => conclude?.())
      .on("error", () => {
        // A body that broke off with its connection is lost, not corrupt.
        if (!isDone() && !isLost) onCorrupt(controller);
        conclude?.();
      })
      .on("drain", () => controller.resume());
  const afterDecoding = (then: () => void) => {
    if (!stream || stream.destroyed || isDone()) return then();
    conclude = then;
    stream.end();
  };

  return {
    ...handler,
    onResponseStart(controller, status, headers, message) {
      const { "content-encoding": coding, ...others } = headers;
      make =
        STREAMS[
          String(coding ?? "")
            .trim()
            .toLowerCase()
        ];
      handler.onResponseStart(controller, status, make ? others : headers, message);
    },
    onResponseData(controller, chunk) {
      if (!make || isDone() || stream?.destroyed) return handler.onResponseData(controller, chunk);
      if (chunk.byteLength === 0) return;
      stream ??= open(make(chunk[0]!), controller); // empty chunks have returned
      if (!stream.write(chunk)) controller.pause();
    },
    onResponseEnd: (controller, trailers) => afterDecoding(() => handler.onResponseEnd(controller, trailers)),
    onResponseError(controller, error) {
      isLost = true;
      afterDecoding(() => handler.onResponseError(controller, error));
    },
  };
}
