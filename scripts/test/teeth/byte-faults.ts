import type { Fault } from "./fault";

/** Faults in how the bytes of providers are read. */
export const BYTE_FAULTS: Fault[] = [
  {
    name: "compressed-answer-not-decoded",
    file: "server/providers/http.ts",
    find: "      decodes: true,\n",
    replace: "",
    caughtBy: "server/providers/http.test.ts",
  },
  {
    name: "inflated-bytes-not-bounded",
    file: "server/platform/http/exchange.ts",
    find: 'if (wish === "stop") controller.abort(new Error("enough"));',
    replace: 'if (wish === "stop") controller.resume();',
    caughtBy: "server/platform/http/decoder.test.ts",
  },
  {
    name: "cut-off-body-is-whole",
    file: "server/platform/http/decoder.ts",
    find: "const ZLIB = { flush: constants.Z_SYNC_FLUSH };",
    replace: "const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };",
    caughtBy: "server/platform/http/decoder.test.ts",
  },
  {
    name: "stream-known-by-its-media-type-alone",
    file: "server/providers/bodies.ts",
    find: 'if (form === "events" || (form === "other" && isEventStream(answer)))',
    replace: "if (isEventStream(answer))",
    caughtBy: "testing/upstreams/upstreams.isolated.test.ts",
  },
  {
    name: "nul-in-an-answer",
    file: "server/platform/text/whole-text.ts",
    find: 'text.toWellFormed().replaceAll("\\0", "\\ufffd");',
    replace: "text.toWellFormed();",
    caughtBy: "server/platform/text/whole-text.test.ts",
  },
  {
    name: "integer-of-an-answer-changes",
    file: "server/capabilities/text/shape.ts",
    find: "  const loss = lossIn(bareJsonOf(result.text));",
    replace: "  const loss = null;",
    caughtBy: "server/capabilities/text.test.ts",
  },
  {
    name: "error-without-framing-is-passed-over",
    file: "server/providers/server-events.ts",
    find: 'if (said !== "error") return;',
    replace: 'if (said !== "nothing") return;',
    caughtBy: "server/providers/server-events.test.ts",
  },
  {
    name: "own-tool-of-a-vendor-is-a-call",
    file: "server/providers/anthropic-ports/stream.ts",
    find: ' || (kind === "tool_use" && found && !KINDS.has(found.type))',
    replace: "",
    caughtBy: "server/providers/anthropic-ports/stream.test.ts",
  },
];
