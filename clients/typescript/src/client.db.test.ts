import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { startServer, type WebServer } from "@/server/web/server";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { type Client, KEYED } from "./client";
import {
  AwaitingApprovalError,
  CapstanError,
  createClient,
  IntegrityError,
  RunFailedError,
  WaitTimeoutError,
} from "./index";

/* Tests the client against a running server, and through a proxy that cuts, loses and changes responses. */

const FAST = "text.general.fast.v1";
const question = { messages: [{ role: "user", content: "How deep are the rivers?" }] };
const pinned = (model: string) => ({ executionConstraints: { preferredModel: model } });

let tenant: Tenant;
let server: WebServer;
let client: Client;
const opened: Server[] = [];

beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = createClient({ baseUrl: server.url, apiKey: tenant.key });
});
afterAll(async () => {
  for (const each of opened) each.closeAllConnections();
  await server.stop(1_000);
});

const clientOf = (baseUrl: string, more: object = {}) =>
  createClient({ baseUrl, apiKey: tenant.key, retry: { waitMs: 1 }, ...more });

/** Starts a small server; returns its URL. */
async function listening(handler: RequestListener): Promise<string> {
  const made = createServer(handler);
  opened.push(made);
  await new Promise<void>((ready) => made.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

/** A proxy in front of the server: `spoil` may change each response. */
const through =
  (spoil: (request: Request, pass: () => Promise<Response>) => Promise<Response>): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    return spoil(request, () => fetch(request));
  };

async function refusal(work: Promise<unknown>): Promise<CapstanError> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(CapstanError);
  return error;
}

const jobsOf = async (): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM job WHERE project_id = $1",
    [tenant.projectId],
  );
  return rows[0]!.count;
};

test("the generated types name the hash of docs/openapi.json; `npm run generate` updates both", () => {
  const document = createHash("sha256").update(readFileSync("docs/openapi.json")).digest("hex");
  const types = readFileSync("clients/typescript/src/openapi.gen.ts", "utf8");
  expect(types.slice(0, types.indexOf("\n"))).toContain(document);
});

test("the paths that get an idempotency key are exactly those of the endpoints that accept one", () => {
  const takers = endpoints.filter(({ idempotent }) => idempotent).map(({ path }) => path as string);
  expect(takers.length).toBeGreaterThan(5);
  expect([...KEYED].sort()).toEqual([...new Set(takers)].sort());
});

describe("runs", () => {
  test("a synchronous run returns output and receipt, and the receipt verifies", async () => {
    const run = await client.runAndWait<{ content: string }>(FAST, question, { maxCostUsd: 0.5 });
    expect(run).toMatchObject({ id: expect.stringMatching(/^wfr_/), capability: FAST, warnings: [] });
    expect(run.charge).toMatchObject({ state: "covered", chargedMicros: expect.any(Number) });
    expect(run.output.content).toContain("rivers");
    expect(run.receipt).toMatchObject({ jobId: run.id, status: "succeeded" });
    expect(await client.verify(run.receipt)).toMatchObject({ verified: true, kind: "receipt" });
    const request = (await tenant.get(`/v1/jobs/${run.id}/request`)).json;
    expect(JSON.stringify(request)).toContain('"maxCostUsd":0.5');
  });

  test("a job is submitted and awaited, and its artifacts match its receipt", async () => {
    const seen: string[] = [];
    const run = await client.runAndWait(
      "image.generate.v1",
      { prompt: "A lighthouse" },
      {
        onJob: ({ status, jobId }) => {
          seen.push(status);
          if (seen.length === 1) void finish(jobId);
        },
      },
    );
    expect(seen[0]).toBe("queued");
    expect(seen.at(-1)).toBe("succeeded");
    const [artifact] = run.artifacts;
    const file = await artifact!.download();
    expect(file.mediaType).toBe("image/png");
    expect(createHash("sha256").update(file.bytes).digest("hex")).toBe(run.receipt?.artifacts[0]?.sha256);

    const changing = clientOf(server.url, {
      fetch: through(async (request, pass) => {
        const response = await pass();
        if (!request.url.includes("/artifacts/")) return response;
        const bytes = new Uint8Array(await response.arrayBuffer());
        bytes[bytes.length - 1]! ^= 1;
        return new Response(bytes, response);
      }),
    });
    const error = await refusal(changing.download(run.id, artifact!));
    expect(error).toBeInstanceOf(IntegrityError);
    expect(error.details).toMatchObject({ artifactId: artifact!.artifactId, sealed: artifact!.sha256 });
  });

  test("a job that waits for approval is an error with the URL to show, and continues after approval", async () => {
    await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [tenant.projectId]);
    const error = await refusal(client.runAndWait("image.generate.v1", { prompt: "A buoy" }));
    await pool.query("UPDATE project SET approval_threshold_micros = NULL WHERE id = $1", [tenant.projectId]);
    if (!(error instanceof AwaitingApprovalError)) throw error;
    expect(error).toMatchObject({ code: "awaiting_approval", nextAction: "present_approval" });
    expect(error.approvalUrl).toContain(error.jobId);
    await client.post("/v1/jobs/{job_id}/approve", { params: { path: { job_id: error.jobId } } });
    await finish(error.jobId);
    expect(await client.waitForJob(error.jobId)).toMatchObject({ id: error.jobId });
  });

  test("a failure names its code and execution, and the end of a wait is not a failure", async () => {
    const failed = await refusal(client.runAndWait(FAST, question, { execution: pinned("sandbox-refuse") }));
    expect(failed).toMatchObject({
      code: "ProviderRejected",
      retryable: false,
      newKeySafe: false,
      executionId: expect.stringMatching(/^wfr_/),
      receiptId: expect.stringMatching(/^rcpt_/),
      requestId: expect.stringMatching(/^req_/),
    });
    const job = await refusal(
      client.runAndWait(FAST, question, {
        mode: "job",
        execution: pinned("sandbox-refuse"),
        onJob: ({ status, jobId }) => void (status === "queued" && finish(jobId)),
      }),
    );
    expect(job).toBeInstanceOf(RunFailedError);
    expect(job).toMatchObject({ code: "ProviderRejected", nextAction: "inspect_error" });
    const { retry } = await client.get("/v1/jobs/{job_id}", {
      params: { path: { job_id: job.executionId! } },
    });
    expect(job.newKeySafe).toBe(retry.newKeySafe);
    const left = await refusal(client.runAndWait(FAST, question, { mode: "job", timeoutSeconds: 0 }));
    if (!(left instanceof WaitTimeoutError)) throw left;
    await finish(left.jobId);
    expect((await client.waitForJob<{ content: string }>(left.jobId)).output.content).toContain("rivers");
  });

  test("an AbortSignal ends the wait with its own reason", async () => {
    const stop = new AbortController();
    const waiting = client.runAndWait(FAST, question, {
      mode: "job",
      signal: stop.signal,
      onJob: () => stop.abort(new Error("enough")),
    });
    await expect(waiting).rejects.toThrow("enough");
  });
});

describe("retries", () => {
  test("a submission whose response was lost is retried under its key, and runs once", async () => {
    const before = await jobsOf();
    const keys: (string | null)[] = [];
    let lost = 0;
    const losing = clientOf(server.url, {
      fetch: through(async (request, pass) => {
        if (request.method === "POST") keys.push(request.headers.get("idempotency-key"));
        const response = await pass();
        if (request.method === "POST" && lost++ < 2) throw new TypeError("fetch failed");
        return response;
      }),
    });
    const run = await losing.runAndWait<{ content: string }>(FAST, question);
    expect(run.output.content).toContain("rivers");
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^run-[0-9a-f]{32}$/);
    expect(await jobsOf()).toBe(before + 1);
    expect(run.receipt?.attempts.map(({ submissions }) => submissions)).toEqual([1]);
  });

  test("an error after a lost response does not claim that nothing ran", async () => {
    let asked = 0;
    const url = await listening((request, response) => {
      request.resume();
      if (++asked % 2 === 1) request.socket.destroy();
      else response.writeHead(401).end('{"detail": {"code": "AuthenticationFailed", "message": "m"}}');
    });
    const submitted = clientOf(url).submit(FAST, question);
    expect(await refusal(submitted)).toMatchObject({ code: "AuthenticationFailed", newKeySafe: false });
    expect(asked).toBe(2);
  });

  test("a request is retried after its Retry-After, and fails at once if that is too long", async () => {
    const at: number[] = [];
    const url = await listening((_, response) => {
      at.push(Date.now());
      if (at.length === 1) response.writeHead(503, { "retry-after": "1" }).end();
      else response.writeHead(200, { "content-type": "application/json" }).end('{"capabilities": []}');
    });
    expect(await clientOf(url).get("/v1/capabilities")).toEqual({ capabilities: [] });
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(990);
    let asked = 0;
    const patient = await listening((_, response) => {
      asked++;
      response
        .writeHead(429, { "retry-after": "3600" })
        .end('{"detail": {"code": "RateLimited", "message": "m"}}');
    });
    expect(await refusal(clientOf(patient).get("/v1/capabilities"))).toMatchObject({
      code: "RateLimited",
      retryAfterSeconds: 3_600,
      retryable: true,
    });
    expect(asked).toBe(1);
  });

  test("final errors, requests without a key, and failed executions are not retried", async () => {
    let asked = 0;
    let body = "";
    const url = await listening((request, response) => {
      asked++;
      request.resume();
      response.writeHead(503, { "content-type": "application/json" }).end(body);
    });
    const refusing = clientOf(url);
    const submit = () => refusing.runAndWait(FAST, question, { mode: "invoke" });
    body = '{"detail": {"code": "TRANSPORT_AMBIGUOUS", "message": "m", "retryable": false}}';
    await refusal(submit());
    expect(asked).toBe(1);
    body =
      '{"detail": {"code": "ProviderUnavailable", "message": "m", "retryable": true, "executionId": "wfr_1"}}';
    expect((await refusal(submit())).executionId).toBe("wfr_1");
    expect(asked).toBe(2);
    await refusal(refusing.post("/v1/jobs/{job_id}/approve", { params: { path: { job_id: "wfr_1" } } }));
    expect(asked).toBe(3);
    body = '{"detail": {"code": "ServiceUnavailable", "message": "m", "retryable": true}}';
    await refusal(submit());
    expect(asked).toBe(11);
  });
});

describe("errors", () => {
  test("errors name the wrong fields and the request id", async () => {
    const error = await refusal(client.runAndWait("compute.evaluate.v1", {}));
    expect(error).toMatchObject({
      status: 422,
      code: expect.any(String),
      requestId: expect.stringMatching(/^req_/),
    });
    expect(error.message).toContain("expression");
    const unknown = await refusal(client.runAndWait("text.general.fats.v1", question));
    expect(unknown).toMatchObject({ status: 404, code: "UNKNOWN_CAPABILITY", newKeySafe: true });
    expect(JSON.stringify(unknown.details)).toContain(FAST);
  });

  test("neither errors nor the client reveal the key", async () => {
    const echo = await listening((request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ detail: { code: "X", message: request.headers.authorization } }));
    });
    const gone = await listening(() => {});
    opened.at(-1)?.close();
    const errors = [
      await refusal(clientOf(echo).get("/v1/capabilities")),
      await refusal(clientOf(gone, { retry: { attempts: 2, waitMs: 1 } }).get("/v1/capabilities")),
    ];
    expect(errors[1]).toMatchObject({ status: 0, code: "Unreachable", details: { reason: "ECONNREFUSED" } });
    for (const shown of [client, ...errors]) {
      expect(inspect(shown, { depth: 20, showHidden: true })).not.toContain(tenant.key.slice(8));
      expect(JSON.stringify(shown)).not.toContain(tenant.key.slice(8));
    }
    expect(() => createClient({ baseUrl: echo, apiKey: `${tenant.key}\n` })).toThrow(/line break/);
    expect(() => createClient({ baseUrl: "https://a:b@example.com" })).toThrow(/without a user name/);
  });
});

describe("streams", () => {
  /** Cuts each event stream after this many bytes, at any point of a frame. */
  const cutting = (most: number) => {
    const asked: (string | null)[] = [];
    const cutter = through(async (request, pass) => {
      const response = await pass();
      if (!request.headers.get("accept")?.includes("event-stream")) return response;
      asked.push(request.headers.get("last-event-id"));
      let left = most;
      const body = response.body!.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, to) {
            to.enqueue(chunk.slice(0, left));
            left -= chunk.byteLength;
            if (left <= 0) to.error(new TypeError("terminated"));
          },
        }),
      );
      return new Response(body, response);
    });
    return { asked, cutter };
  };

  test("text from a stream that is cut again and again is complete, without repeats", async () => {
    const whole = await client.runAndWait<{ content: string }>(FAST, question);
    const { asked, cutter } = cutting(600);
    const run = await clientOf(server.url, { fetch: cutter }).stream(FAST, question, { reconnectMs: 1 });
    let text = "";
    for await (const piece of run.text()) text += piece;
    expect(text).toBe(whole.output.content);
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.every((id, place) => (place === 0 ? id === null : /^\d+$/.test(id ?? "")))).toBe(true);
    const end = await run.result<{ content: string }>();
    expect(end).toMatchObject({ output: { content: text }, charge: whole.charge });
    expect(end.receipt?.jobId).toBe(run.executionId);
  });

  test("a stream that fails throws the execution's error", async () => {
    const run = await client.stream(FAST, question, { execution: pinned("sandbox-fail") });
    expect(await refusal(run.result())).toMatchObject({ executionId: run.executionId });
  });

  test("a job's events arrive in order to the last one, despite cuts", async () => {
    const { jobId } = await client.post("/v1/capabilities/{capability_key}/jobs", {
      params: { path: { capability_key: FAST } },
      body: { input: question },
    });
    const { asked, cutter } = cutting(700);
    const followed: string[] = [];
    const following = clientOf(server.url, { fetch: cutter }).jobEvents(jobId, { reconnectMs: 1 });
    for await (const { id, type } of following) {
      if (followed.length === 0) void finish(jobId);
      followed.push(`${id} ${type}`);
    }
    const { events } = await client.get("/v1/jobs/{job_id}/events", { params: { path: { job_id: jobId } } });
    expect(followed).toEqual(events.map(({ id, type }) => `${id} ${type}`));
    expect(followed.join()).toContain("job.succeeded");
    expect(asked.length).toBeGreaterThan(1);
  });
});

describe("evidence", () => {
  test("a changed receipt is detected, offline too", async () => {
    const { receipt } = await client.runAndWait("compute.evaluate.v1", { expression: "2 + 2" });
    const keys = await client.keySet();
    const offline = createClient({ baseUrl: "http://127.0.0.1:1" });
    expect(await offline.verify(JSON.stringify(receipt), { keys })).toMatchObject({ verified: true });
    const changed = await offline.verify({ ...receipt, capabilityKey: FAST }, { keys });
    expect(changed.verified).toBe(false);
    expect(changed.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toContain("signature_valid");
  });

  test("a pinned record, its manifest and its lockfile verify", async () => {
    const { receiptId } = await client.post("/v1/inference/pinned", {
      body: { pin: { provider: "sandbox", model: "sandbox-1", api: "responses" }, input: "How deep?" },
    });
    const record = await client.get("/v1/inference/pinned/{receipt_id}", {
      params: { path: { receipt_id: receiptId } },
    });
    const manifest = await client.post("/v1/provenance/manifests", {
      body: { label: "one", receiptIds: [record.receiptId] },
    });
    const lockfile = await client.get("/v1/provenance/lockfile", {
      params: { query: { receipt_id: record.receiptId } },
    });
    for (const [document, kind] of [
      [record, "pinned record"],
      [manifest, "manifest"],
      [lockfile, "lockfile"],
    ] as const)
      expect(await client.verify(document, { receipts: [record] })).toMatchObject({
        kind,
        verified: true,
      });
  });
});
