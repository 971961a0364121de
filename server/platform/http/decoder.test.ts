import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { listen } from "@/testing/listener";
import { exchange, openPool } from "./index";

type Sent = { coding: string; pieces: (Uint8Array | "reset" | "hold")[] };
let sent: Sent = { coding: "", pieces: [] };
const closed: string[] = [];
const server = await listen(async (_request, _body, response) => {
  response.on("close", () => closed.push("closed"));
  response.writeHead(200, { "content-encoding": sent.coding });
  response.flushHeaders();
  for (const piece of sent.pieces) {
    if (piece === "hold") return;
    if (piece === "reset") return void response.socket?.resetAndDestroy();
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
  }
  response.end();
});
const url = `http://127.0.0.1:${server.port}`;
const pool = openPool(url, { connections: 2, allowPrivateAddresses: true });
afterAll(async () => {
  await pool.destroy();
  await server.stop();
});

/** Reads a body until more than `limit` decoded bytes have arrived. */
async function read(coding: string, pieces: Sent["pieces"], limit = Number.POSITIVE_INFINITY) {
  sent = { coding, pieces };
  const chunks: Buffer[] = [];
  let isCorrupt = false;
  let received = 0;
  const outcome = await exchange(
    {
      pool,
      origin: url,
      path: "/",
      method: "GET",
      headers: {},
      body: null,
      signal: AbortSignal.timeout(30_000),
      decodes: true,
    },
    {
      onChunk(chunk) {
        received += chunk.byteLength;
        chunks.push(chunk);
        return received > limit ? "stop" : "more";
      },
      onCorrupt() {
        isCorrupt = true;
      },
    },
  );
  const header = outcome.state === "answered" ? outcome.answer.header("content-encoding") : undefined;
  return { text: Buffer.concat(chunks).toString(), state: outcome.state, isCorrupt, header, received };
}

const TEXT = "Hello ".repeat(20_000);
const CODINGS: [string, Uint8Array][] = [
  ["gzip", gzipSync(TEXT)],
  ["X-GZip", gzipSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["deflate", deflateRawSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
];

describe.each(CODINGS)("a body in %s", (coding, bytes) => {
  test("the body is decoded, however it is cut", async () => {
    const whole = { text: TEXT, state: "answered", isCorrupt: false, header: null };
    expect(await read(coding, [bytes])).toMatchObject(whole);
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 5), bytes.subarray(5)];
    expect(await read(coding, pieces)).toMatchObject(whole);
  });

  test("a body that ends too soon is corrupt, and lost if the connection broke", async () => {
    const half = bytes.subarray(0, bytes.byteLength / 2);
    expect(await read(coding, [half])).toMatchObject({ state: "answered", isCorrupt: true });
    expect(await read(coding, [half, "reset"])).toMatchObject({ state: "lost", isCorrupt: false });
  });
});

test("bytes that are not in the stated coding are reported as corrupt", async () => {
  for (const coding of ["gzip", "deflate", "br"])
    expect(await read(coding, [Buffer.from("<html>")])).toMatchObject({ state: "answered", isCorrupt: true });
});

test("a body in an unknown coding is passed on as it was sent", async () => {
  const seen = await read("zstd", [Buffer.from("as it is")]);
  expect(seen).toMatchObject({ text: "as it is", isCorrupt: false, header: "zstd" });
});

test("an empty body is empty in any coding", async () => {
  expect(await read("gzip", [])).toMatchObject({ text: "", state: "answered", isCorrupt: false });
});

test("a piece is decoded before the next is sent", async () => {
  const first = gzipSync("data: one\n\n", { finishFlush: constants.Z_SYNC_FLUSH });
  expect(await read("gzip", [first, "hold"], 10)).toMatchObject({ text: "data: one\n\n" });
});

test.each([
  ["gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024))],
  ["br", brotliCompressSync(Buffer.alloc(64 * 1024 * 1024))],
])("a bomb in %s is cut off at the reader's limit", async (coding, bomb) => {
  closed.length = 0;
  const seen = await read(coding, [bomb, "hold"], 1024 * 1024);
  expect(seen.received).toBeLessThan(2 * 1024 * 1024);
  await expect.poll(() => closed).toEqual(["closed"]);
});
