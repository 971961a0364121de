/** @module-tag long */
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { sha256Hex } from "@/server/platform/text/canonical";
import { makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { BAD_FILES, GOOD_FILES } from "@/testing/corpora/safetensors/bad-files";
import { loraHeader, safetensorsFile } from "@/testing/corpora/safetensors/parts";
import { Form, someWeights, uploadOf, weightsPart } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { startServer, type WebServer } from "./server";

/* Uploads over real connections. The store is a directory of this file's own, so that every file in it is known. */

const before = { ...env };
let tenant: Tenant;
let server: WebServer;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "capstan-uploads-"));
  setSettings({ CAPSTAN_DATA_DIR: directory });
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
});
beforeEach(async () => {
  tenant = await makeTenant();
});
afterEach(() => {
  setSettings({ ...before, CAPSTAN_DATA_DIR: directory });
});
afterAll(async () => {
  await server.stop(0);
  await rm(directory, { recursive: true, force: true });
});

/** Files in the store, finished or not. */
const filesKept = async () => {
  const entries = await readdir(join(directory, "artifacts"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => basename(name))
    .sort();
};
/** Rows that an upload of this tenant could have left. */
const rowsKept = async () => {
  const { rows } = await pool.query<{ artifacts: number; adapters: number; holds: number }>(
    `SELECT (SELECT count(*) FROM artifact WHERE project_id = $1) AS artifacts,
       (SELECT count(*) FROM model_adapter WHERE project_id = $1) AS adapters,
       (SELECT count(*) FROM hold WHERE organization_id = $2) AS holds`,
    [tenant.projectId, tenant.organizationId],
  );
  return rows[0];
};
const NOTHING = { artifacts: 0, adapters: 0, holds: 0 };

function begin(headers: Record<string, string | number | undefined>, agent?: Agent): ClientRequest {
  const request = httpRequest(`${server.url}/v1/adapters/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
    ...(agent ? { agent } : {}),
  });
  request.on("error", () => {}); // a refused body may not be taken to its end
  return request;
}

const closed = (request: ClientRequest) => new Promise<void>((resolve) => request.once("close", resolve));

async function answerOf(request: ClientRequest) {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response) text += part;
  const json = JSON.parse(text);
  const [issue] = Array.isArray(json.detail) ? json.detail : [];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    json,
    /** Rule of the file, or error code, of the refusal. */
    refusal: issue ? issue.type : json.detail?.code,
  };
}

async function send(form: Form, { pieces = form.bytes.byteLength, isChunked = false, agent }: How = {}) {
  const length = isChunked ? {} : { "content-length": form.bytes.byteLength };
  const request = begin({ "content-type": form.contentType, ...length }, agent);
  const answer = answerOf(request);
  for (let at = 0; at < form.bytes.byteLength; at += pieces)
    request.write(form.bytes.subarray(at, at + pieces));
  request.end();
  return answer;
}
type How = { pieces?: number; isChunked?: boolean; agent?: Agent };

/** Files of the corpus whose header is valid and shows no LoRA, so that they are refused before the rest is read. */
const NO_LORA = new Set([
  "offsets past the end",
  ...BAD_FILES.filter(({ rule }) => rule === "polyglot").map(({ name }) => name),
]);

describe("the corpus, over a connection", () => {
  test.each(campaign.sample(BAD_FILES, ({ rule }) => [rule]))(
    "$name is refused for $rule, and leaves nothing",
    async (bad) => {
      const rule = NO_LORA.has(bad.name) ? "not_a_lora" : bad.rule;
      const { bytes } = bad;
      const kept = await filesKept();
      const file = bytes();
      const ways: How[] = file.byteLength > 1024 ** 2 ? [{}] : [{}, { isChunked: true, pieces: 97 }];
      for (const how of ways) {
        const answer = await send(uploadOf(file), how);
        expect(answer.refusal).toBe(rule === "file_too_large" ? "PayloadTooLarge" : rule);
        if (rule !== "file_too_large") expect(answer.json.detail[0].loc).toEqual(["body", "file"]);
      }
      expect(await rowsKept()).toEqual(NOTHING);
      expect(await filesKept()).toEqual(kept);
    },
  );

  const lora = (metadata: Record<string, string> = {}) => loraHeader({ maker: "kohya", metadata });
  const ending = Buffer.concat([Buffer.from("PK\x05\x06", "latin1"), Buffer.alloc(18)]);
  const withTail = (tail: Buffer) => {
    const { header, data } = lora();
    return safetensorsFile({ header, data: Buffer.concat([data.subarray(0, -tail.length), tail]) });
  };
  const front = 8 + '{"__metadata__":{"a":"'.length;
  test.each([
    ["cut off", "data_truncated", () => safetensorsFile(lora()).subarray(0, -1)],
    [
      "with a byte too many",
      "trailing_bytes",
      () => Buffer.concat([safetensorsFile(lora()), Buffer.alloc(1)]),
    ],
    ["that is a ZIP file", "polyglot", () => withTail(ending)],
    ["that is a PDF", "polyglot", () => safetensorsFile(lora({ a: "%PDF-1.7 1 0 obj <<>> endobj" }))],
    ["that is a tar file", "polyglot", () => safetensorsFile(lora({ a: `${"x".repeat(257 - front)}ustar` }))],
  ])("a LoRA %s is refused for %s, and leaves nothing", async (_what, rule, bytes) => {
    const kept = await filesKept();
    for (const pieces of [1, 1000]) expect((await send(uploadOf(bytes()), { pieces })).refusal).toBe(rule);
    expect(await rowsKept()).toEqual(NOTHING);
    expect(await filesKept()).toEqual(kept);
  });

  test.each(campaign.sample(GOOD_FILES, ({ family }) => [family ?? "none"]))(
    "$name is accepted if it is a LoRA",
    async ({ bytes, family }) => {
      const file = bytes();
      const sha256 = sha256Hex(file);
      const answer = await send(uploadOf(file), { pieces: 60_000, isChunked: true });
      if (family === undefined) {
        expect(answer.refusal).toBe("not_a_lora");
        expect(await rowsKept()).toEqual(NOTHING);
        expect(await filesKept()).not.toContain(sha256);
        return;
      }
      expect(answer.status, JSON.stringify(answer.json)).toBe(200);
      expect(answer.json).toMatchObject({
        frozen: true,
        baseModelFamily: family,
        source: { kind: "service_artifact", sha256, byteLength: file.byteLength },
      });
      const kept = await fetch(`${server.url}/v1/artifacts/${answer.json.source.ref}`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      });
      expect(sha256Hex(Buffer.from(await kept.arrayBuffer()))).toBe(sha256);
      expect(await filesKept()).toContain(sha256);
    },
  );
});

describe("faulty bodies", () => {
  const form = () => uploadOf(someWeights());

  test("a body cut off before the end of its last boundary, with its real length announced, is refused", async () => {
    const { bytes, contentType } = form();
    const cuts = [0, 1, 40, 150, 300, 500, bytes.length - 60, bytes.length - 3, bytes.length - 2];
    for (const length of cuts.slice(1)) {
      const request = begin({ "content-type": contentType, "content-length": length });
      request.end(bytes.subarray(0, length));
      const { status, refusal } = await answerOf(request);
      // The line break behind the last boundary is not needed.
      const isWhole = length === bytes.length - 2;
      expect([status, refusal], `${length} bytes`).toEqual(
        isWhole ? [200, undefined] : [422, "multipart_invalid"],
      );
    }
    expect(await rowsKept()).toEqual({ ...NOTHING, artifacts: 1, adapters: 1 });
  });

  test("a Content-Length that is never filled is a 408, and an abandoned one leaves nothing", async () => {
    const { bytes, contentType } = form();
    const kept = await filesKept();
    const headers = { "content-type": contentType, "content-length": bytes.length + 1 };
    setSettings({ ADAPTER_UPLOAD_IDLE_MS: 50 });
    for (const part of [bytes, bytes.subarray(0, 500)]) {
      const request = begin(headers);
      request.write(part);
      const { status, refusal, headers: answered } = await answerOf(request);
      expect([status, refusal, answered.connection]).toEqual([408, "RequestTimeout", "close"]);
      request.destroy();
    }
    setSettings({ ...before, CAPSTAN_DATA_DIR: directory });
    for (const part of [bytes, bytes.subarray(0, 500), bytes.subarray(0, 10)]) {
      const request = begin(headers);
      request.write(part, () => request.destroy());
      await closed(request);
    }
    // All uploads have ended once the organization has all its places again.
    setSettings({ ADAPTER_UPLOADS_PER_ORGANIZATION: 1 });
    for (let status = 429; status === 429; ) ({ status } = await send(new Form([["colour", "blue"]])));
    expect(await rowsKept()).toEqual(NOTHING);
    expect(await filesKept()).toEqual(kept);
  });

  test("a caller that closes its half of the connection too soon is refused, and leaves nothing", async () => {
    const { bytes, contentType } = form();
    const kept = await filesKept();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(
      `POST /v1/adapters/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    );
    socket.end(bytes.subarray(0, 400));
    let text = "";
    for await (const part of socket) text += part;
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await rowsKept()).toEqual(NOTHING);
    expect(await filesKept()).toEqual(kept);
  });

  test("bytes behind the closing boundary are not part of the file", async () => {
    const weights = someWeights();
    const { bytes, contentType } = new Form([weightsPart(weights), ["displayName", "Followed"]]);
    const request = begin({ "content-type": contentType });
    request.end(Buffer.concat([bytes, Buffer.from("PK\x05\x06")]));
    const { json } = await answerOf(request);
    expect(json.source).toMatchObject({ sha256: sha256Hex(weights), byteLength: weights.byteLength });
  });

  test("fields may come behind the file, and are checked before it is kept", async () => {
    const kept = await filesKept();
    const file = weightsPart(someWeights());
    const late = await send(new Form([file, ["displayName", "Behind"], ["recommendedWeight", "0.5"]]));
    expect(late.json).toMatchObject({ displayName: "Behind", recommendedWeight: 0.5 });
    const again = someWeights();
    for (const fields of [
      [["displayName", "BEHIND"]],
      [["displayName", "x".repeat(256)]],
      [
        ["displayName", "a"],
        ["recommendedWeight", "-1"],
      ],
      [],
    ] as const)
      expect((await send(new Form([weightsPart(again), ...fields]))).status).toBe(422);
    expect(await filesKept()).toEqual([...kept, late.json.source.sha256].sort());
    expect(await rowsKept()).toEqual({ ...NOTHING, artifacts: 1, adapters: 1 });
  });
});

describe("connections", () => {
  /** Sends a body for as long as it is taken, up to `most` bytes. */
  function pour(request: ClientRequest, most: number) {
    const piece = Buffer.alloc(256 * 1024, 0x41);
    const poured = { bytes: 0 };
    const go = () => {
      while (poured.bytes < most && !request.destroyed) {
        poured.bytes += piece.length;
        if (!request.write(piece)) return void request.once("drain", go);
      }
    };
    go();
    return poured;
  }

  test.each([
    ["a key that may not", { authorization: "Bearer cap_development_nothing" }, "", 401],
    ["a file that is none", {}, "", 422],
    [
      "a field that is wrong",
      {},
      'Content-Disposition: form-data; name="colour"\r\n\r\nblue\r\n--x\r\n',
      422,
    ],
    ["a length that is too much", { "content-length": 4 * 1024 ** 3 }, "", 413],
  ])(
    "%s is answered while the body is still coming, and the connection ends",
    async (_what, headers, field, status) => {
      const request = begin({ "content-type": "multipart/form-data; boundary=x", ...headers });
      const answer = answerOf(request);
      request.write(`--x\r\n${field}Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n`);
      const most = 4 * 1024 ** 3;
      const poured = pour(request, most);
      const got = await answer;
      expect([got.status, got.headers.connection]).toEqual([status, "close"]);
      await once(request, "close");
      expect(poured.bytes).toBeLessThan(most);
      expect(await rowsKept()).toEqual(NOTHING);
    },
  );

  test("a body that takes too long ends, unless its endpoint allows it more", async () => {
    const hasty = await startServer({
      host: "127.0.0.1",
      port: 0,
      pages: null,
      bodies: { usualMs: 40, lookEveryMs: 10 },
    });
    const open = (path: string, contentType: string) => {
      const socket = connect(Number(new URL(hasty.url).port), "127.0.0.1");
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${tenant.key}\r\n`;
      socket.write(`${head}Content-Type: ${contentType}\r\nContent-Length: `);
      return socket;
    };
    const read = async (socket: ReturnType<typeof connect>) => {
      let text = "";
      for await (const part of socket) text += part;
      return text;
    };
    try {
      const { bytes, contentType } = uploadOf();
      const patient = open("/v1/adapters/upload", contentType);
      patient.write(`${bytes.length}\r\n\r\n`);
      patient.write(bytes.subarray(0, 300));
      // This request reaches the usual limit while the upload is half sent.
      const usual = open("/v1/payloads", "application/json");
      usual.write('9\r\n\r\n{"a"');
      expect(await read(usual)).toMatch(/^HTTP\/1\.1 408 /);
      const again = open("/v1/payloads", "application/json");
      again.write('9\r\n\r\n{"a"');
      expect(await read(again)).toMatch(/^HTTP\/1\.1 408 /);
      patient.write(bytes.subarray(300));
      expect(await read(patient)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      await hasty.stop(0);
    }
  });

  test("one connection takes one upload after another", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const sockets = new Set<unknown>();
      for (const isChunked of [false, true, false]) {
        const form = uploadOf();
        const length = isChunked ? {} : { "content-length": form.bytes.byteLength };
        const request = begin({ "content-type": form.contentType, ...length }, agent);
        request.on("socket", (socket) => sockets.add(socket));
        request.end(form.bytes);
        expect((await answerOf(request)).status).toBe(200);
      }
      expect(sockets.size).toBe(1);
    } finally {
      agent.destroy();
    }
  });

  test("the same bytes under three names at once are three adapters and one file", async () => {
    const bytes = someWeights();
    const kept = await filesKept();
    const answers = await Promise.all(
      [1, 2, 3].map(() => send(uploadOf(bytes), { pieces: 64, isChunked: true })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ json }) => json.source.ref)).size).toBe(3);
    expect(await filesKept()).toEqual([...kept, sha256Hex(bytes)].sort());
    expect(await rowsKept()).toEqual({ ...NOTHING, artifacts: 3, adapters: 3 });
  });

  test("three uploads of one name at once make one adapter, and the others leave nothing", async () => {
    const displayName = `Adapter ${ulid()}`;
    const files = [1, 2, 3].map(() => someWeights());
    const kept = await filesKept();
    const answers = await Promise.all(files.map((bytes) => send(uploadOf(bytes, { displayName }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    const made = answers.find(({ status }) => status === 200);
    expect(await filesKept()).toEqual([...kept, made?.json.source.sha256].sort());
    expect(await rowsKept()).toEqual({ ...NOTHING, artifacts: 1, adapters: 1 });
  });
});
