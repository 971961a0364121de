import { afterAll, beforeAll, expect, test } from "vitest";
import { PinnedAnswer } from "@/server/contract/pinned-records";
import * as credentials from "@/server/domain/connections";
import * as pins from "@/server/domain/pins";
import { publicKeys } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { response } from "@/testing/responses-server/scripts";
import { system } from "@/testing/tenants";
import { SECRET, vendorAsOpenAi } from "@/testing/vault";
import { tapSandbox } from "@/testing/vendor-tap";
import { makeProject, type TestProject } from "@/testing/world";

const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };
const ask = <M extends Record<string, Json>>(more?: M) => ({
  pin: PIN,
  input: "How deep is the sea?",
  ...(more as M),
});

let tap: Awaited<ReturnType<typeof tapSandbox>>;
beforeAll(async () => {
  tap = await tapSandbox();
});
afterAll(() => tap.stop());

/** The only body that was sent for this execution. */
function sentFor({ executionId }: { executionId: string }): string {
  const received = tap.of(executionId);
  expect(received).toHaveLength(1);
  return received[0]?.body ?? "";
}

test("a pinned request is answered with its record, which can be read again and listed", async () => {
  const { ctx } = await makeProject();
  const answer = await pins.run(ctx, ask());
  expect(PinnedAnswer.parse(answer)).toEqual(answer);
  expect(answer).toMatchObject({
    status: "succeeded",
    output: { finishReason: "stop", toolCalls: [] },
    receipt: {
      pin: PIN,
      logicalAttempts: 1,
      providerSubmissions: 1,
      capacityRejections: 0,
      providerSubmission: "attempted",
      safelyRetryable: false,
      schedulerWaitMs: null,
      costBearer: "none",
      isTest: true,
      corrections: [],
    },
  });
  expect(answer.result.receipt).toEqual(answer.receipt);
  expect(await pins.get(ctx, answer.receiptId)).toEqual(answer.receipt);
  const { items, nextCursor } = await pins.list(ctx, { limit: 25 });
  expect(items.map(({ receipt_id }) => receipt_id)).toEqual([answer.receiptId]);
  expect(nextCursor).toBeNull();
});

test("the vendor receives exactly the bytes that the record hashes, and the same request sends the same bytes", async () => {
  const { ctx } = await makeProject();
  const request = ask({
    instructions: "Say it short.\r\n  Indented, “quoted”, 海, \u0007.",
    sampling: { temperature: 0.30000000000000004, maxOutputTokens: 200, stop: ["\n\n"] },
    responseFormat: {
      type: "json_schema",
      name: "depth",
      schema: { type: "object", properties: { z: { type: "number" }, a: { type: "string" } } },
      strict: false,
    },
  });
  const [one, other] = [await pins.run(ctx, request), await pins.run(ctx, request)];
  const body = sentFor(one);
  expect(sha256Hex(body)).toBe(one.receipt.sentHash);
  expect(sentFor(other)).toBe(body);
  expect(other.receipt).toMatchObject({
    sentHash: one.receipt.sentHash,
    requestHash: one.receipt.requestHash,
  });
  expect(JSON.parse(body)).toEqual({
    model: "sandbox-1",
    messages: [
      { role: "system", content: request.instructions },
      { role: "user", content: request.input },
    ],
    temperature: 0.30000000000000004,
    maxOutputTokens: 200,
    stop: ["\n\n"],
    responseFormat: request.responseFormat,
  });
  expect(body.indexOf('"z"'), "a schema's properties keep their order").toBeLessThan(body.indexOf('"a"'));
});

test("absent members are not sent, and neither are facts about the caller", async () => {
  const { ctx } = await makeProject();
  const correlation = {
    metadata: { order: "canary-metadata" },
    tags: ["canary-tag"],
    externalRef: "canary-ref",
    correlationId: "canary-correlation",
    idempotencyKey: "canary-key",
  };
  const answer = await pins.run(ctx, ask(correlation));
  const body = sentFor(answer);
  expect(JSON.parse(body)).toEqual({
    model: "sandbox-1",
    messages: [{ role: "user", content: "How deep is the sea?" }],
  });
  expect(JSON.stringify(tap.of(answer.executionId))).not.toContain("canary");
  expect(answer.receipt).toMatchObject({
    settings: {},
    instructionsHash: null,
    metadata: correlation.metadata,
    tags: correlation.tags,
    externalRef: "canary-ref",
    correlationId: "canary-correlation",
  });
});

test("each hash of a record matches the part it names", async () => {
  const { ctx } = await makeProject();
  const request = {
    ...ask({ instructions: "Short.", sampling: { maxOutputTokens: 90 } }),
    responseFormat: { type: "text" },
    tools: [{ type: "function", name: "find", parameters: { type: "object", properties: {} } }],
    toolChoice: "none",
  };
  const { receipt, output } = await pins.run(ctx, { ...request, includeNativeResponse: true });
  const { nativeResponse } = receipt;
  expect(receipt).toMatchObject({
    requestHash: sha256Hex(canonicalText({ ...request, isolation: "stateless", processing: "standard" })),
    inputHash: sha256Hex(request.input),
    instructionsHash: sha256Hex("Short."),
    toolsHash: sha256Hex(canonicalText(request.tools)),
    responseFormatHash: sha256Hex(canonicalText({ type: "text" })),
    outputHash: sha256Hex(canonicalText(output as Json)),
    nativeResponseHash: sha256Hex(canonicalText(nativeResponse as Json)),
    settings: { maxOutputTokens: 90, toolChoice: "none" },
  });
});

test("the vendor's response is stored and shown only if requested, and does not change the request's identity", async () => {
  const { ctx } = await makeProject();
  const plain = await pins.run(ctx, ask());
  const native = await pins.run(ctx, ask({ includeNativeResponse: true }));
  expect(native.receipt.requestHash).toBe(plain.receipt.requestHash);
  expect(native.receipt.nativeResponseHash).toBe(plain.receipt.nativeResponseHash);
  expect(plain).not.toHaveProperty("nativeResponse");
  expect(native.nativeResponse).toMatchObject({ model: "sandbox-1", id: native.receipt.providerRequestId });
  expect(native.result.nativeResponse).toEqual(native.nativeResponse);
  expect((await pins.get(ctx, native.receiptId)).nativeResponse).toEqual(native.nativeResponse);
  expect(await pins.get(ctx, plain.receiptId)).not.toHaveProperty("nativeResponse");
  const keyed = await pins.run(ctx, ask({ idempotencyKey: "n" }));
  const again = await pins.run(ctx, ask({ idempotencyKey: "n", includeNativeResponse: true }));
  expect(again.executionId).toBe(keyed.executionId);
});

test("a request hash ignores the order of keys, tags and limits, and changes with the content", async () => {
  const { ctx } = await makeProject();
  const hashOf = async (more: Record<string, Json>) => (await pins.run(ctx, ask(more))).receipt.requestHash;
  const first = await hashOf({ sampling: { temperature: 0.5, seed: 1 } });
  expect(await hashOf({ sampling: { seed: 1, temperature: 0.5 } })).toBe(first);
  expect(
    await hashOf({ sampling: { seed: 1, temperature: 0.5 }, tags: ["x"], limits: { timeoutSeconds: 60 } }),
  ).toBe(first);
  const others = [
    await hashOf({}),
    await hashOf({ sampling: { temperature: 0.5 } }),
    await hashOf({ sampling: { temperature: 0.5, seed: 2 } }),
    await hashOf({ sampling: { temperature: 0.5, seed: 1 }, instructions: "Short." }),
    await hashOf({
      sampling: { temperature: 0.5, seed: 1 },
      processing: "deferred",
      pin: { ...PIN, model: "sandbox-2" },
    }),
  ];
  expect(new Set([first, ...others]).size).toBe(6);
  expect(await hashOf({ sampling: {} })).toBe(others[0]);
});

test("deferred processing is opt-in, and its record shows the tier that ran and its discount", async () => {
  const { ctx } = await makeProject();
  const standard = await pins.run(ctx, ask());
  const deferred = await pins.run(ctx, ask({ processing: "deferred" }));
  expect(sentFor(standard)).not.toContain("flex");
  expect(JSON.parse(sentFor(deferred))).toMatchObject({ tier: "flex" });
  expect(standard.receipt).toMatchObject({
    processingTier: "standard",
    deferredDiscountBps: 0,
    discountedUpstreamBasisMicros: null,
    limits: { timeoutSeconds: 600, admissionDeadlineSeconds: 120 },
  });
  expect(deferred.receipt).toMatchObject({
    processingTier: "flex",
    deferredDiscountBps: 5000,
    discountedUpstreamBasisMicros: deferred.receipt.cost?.amountMicros,
    limits: { timeoutSeconds: 600, admissionDeadlineSeconds: 900 },
  });
});

test("concurrent posts of one key run it once: fifty posts of each of twenty keys get equal answers", {
  tags: "long",
}, async () => {
  const { ctx } = await makeProject();
  const before = tap.size();
  const posts = Array.from({ length: 1_000 }, (_, place) => place % 20).map((number) =>
    pins.run(ctx, ask({ idempotencyKey: `key-${number}`, input: `Question ${number}` })),
  );
  const answers = await Promise.all(posts);
  expect(new Set(answers.map(({ executionId }) => executionId)).size).toBe(20);
  for (const [place, answer] of answers.entries()) expect(answer).toEqual(answers[place % 20]);
  expect(tap.size() - before).toBe(20);
  const { rows } = await pool.query(
    `SELECT (SELECT count(*) FROM pinned_execution WHERE project_id = $1) AS executions,
       (SELECT count(*) FROM pinned_attempt WHERE project_id = $1) AS attempts,
       (SELECT count(*) FROM hold WHERE project_id = $1) AS holds`,
    [ctx.principal.kind === "service_principal" && ctx.principal.projectId],
  );
  expect(rows[0]).toEqual({ executions: 20, attempts: 20, holds: 20 });
});

test("a failure is replayed as the same failure, and nothing is sent again", async () => {
  const { ctx } = await makeProject();
  const lost = { ...ask({ idempotencyKey: "lost" }), pin: { ...PIN, model: "sandbox-lost" } };
  const [first, again] = [
    await pins.run(ctx, lost).catch((e) => e),
    await pins.run(ctx, lost).catch((e) => e),
  ];
  expect(first).toMatchObject({
    code: "TRANSPORT_AMBIGUOUS",
    details: { providerSubmission: "ambiguous", safelyRetryable: false },
  });
  expect([again.code, again.message, again.details]).toEqual([first.code, first.message, first.details]);
  expect(tap.of(first.details.executionId)).toHaveLength(1);
});

test("private content is stored encrypted and shown to authorized readers", async () => {
  const { ctx } = await makeProject();
  const phrase = "a phrase no one else would write";
  const answer = await pins.run(ctx, {
    ...ask({ includeNativeResponse: true, context: { dataClassification: "PrivateUserContent" } }),
    input: phrase,
  });
  const { rows } = await pool.query(
    "SELECT kind, content, is_sealed FROM payload WHERE pinned_id = $1 ORDER BY kind",
    [answer.executionId],
  );
  expect(rows.map(({ kind, is_sealed }) => [kind, is_sealed])).toEqual([
    ["native", true],
    ["output", true],
    ["request", true],
  ]);
  const { text } = answer.output as { text: string };
  for (const { content } of rows) {
    expect(content).not.toContain(phrase);
    expect(content).not.toContain(text);
  }
  expect((await pins.get(ctx, answer.receiptId)).output).toEqual(answer.output);
  const { output, nativeResponse, ...sealed } = answer.receipt;
  expect(JSON.stringify(sealed)).not.toContain(phrase);
  expect(JSON.stringify(sealed)).not.toContain(text);
});

test("HashesOnly stores no request", async () => {
  const { ctx } = await makeProject();
  const { executionId } = await pins.run(ctx, ask({ context: { retentionRequirement: "HashesOnly" } }));
  const { rows } = await pool.query("SELECT kind FROM payload WHERE pinned_id = $1", [executionId]);
  expect(rows).toEqual([{ kind: "output" }]);
});

test("the record's hash and signature cover everything but the parts outside the seal", async () => {
  const { ctx } = await makeProject();
  const { receipt } = await pins.run(ctx, ask({ includeNativeResponse: true }));
  const { receipt_id, recordHash, signature, output, nativeResponse, corrections, ...sealed } = receipt;
  const body = canonicalText(sealed as unknown as Json);
  expect(sha256Hex(body)).toBe(recordHash);
  const jwk = (await publicKeys()).keys.find(({ kid }) => kid === signature.keyId);
  const key = await crypto.subtle.importKey("jwk", jwk as JsonWebKey, "Ed25519", false, ["verify"]);
  const value = Buffer.from(signature.value, "base64url");
  expect(await crypto.subtle.verify("Ed25519", key, value, Buffer.from(body))).toBe(true);
  expect(await crypto.subtle.verify("Ed25519", key, value, Buffer.from(`${body} `))).toBe(false);
});

// ---- runs on the project's own account

async function withAccount(
  work: (
    world: TestProject & {
      credentialId: string;
      bindingId: string;
      vendor: Awaited<ReturnType<typeof vendorAsOpenAi>>["vendor"];
    },
  ) => Promise<void>,
) {
  const { vendor, close } = await vendorAsOpenAi();
  try {
    const world = await makeProject();
    const { organizationId, projectId } = world;
    const { credentialId } = await credentials.createCredential(system, organizationId, {
      provider: "openai",
      secret: SECRET,
      label: "own",
    });
    const { bindingId } = await credentials.bindCredential(system, organizationId, credentialId, {
      input: {
        projectId,
        environment: "development",
        provider: "openai",
      },
    });
    await work({ ...world, vendor, credentialId, bindingId });
  } finally {
    await close();
  }
}
const OWN = { pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" } };

test("the account's secret is sent to its vendor only and appears in no stored row and no answer", async () => {
  await withAccount(async ({ ctx, vendor, projectId }) => {
    vendor.answer({ json: response() });
    const answer = await pins.run(
      ctx,
      ask({ ...OWN, includeNativeResponse: true, sampling: { maxOutputTokens: 64 } }),
    );
    vendor.answer({ status: 400, json: { error: { message: `Not good: ${SECRET}`, code: SECRET } } });
    const refused = await pins.run(ctx, ask(OWN)).catch((error) => error);
    expect(refused.code).toBe("ProviderRejected");
    expect(vendor.arrived[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    const { rows } = await pool.query(
      `SELECT (SELECT json_agg(x) FROM pinned_execution x WHERE project_id = $1)::text AS executions,
         (SELECT json_agg(x) FROM pinned_attempt x WHERE project_id = $1)::text AS attempts,
         (SELECT json_agg(x) FROM pinned_record x WHERE project_id = $1)::text AS records,
         (SELECT json_agg(x) FROM payload x WHERE project_id = $1)::text AS payloads`,
      [projectId],
    );
    const everything = JSON.stringify([
      rows,
      answer,
      refused.message,
      refused.details,
      await pins.list(ctx, { limit: 100 }),
    ]);
    for (const piece of [
      SECRET,
      SECRET.slice(4, 16),
      Buffer.from(SECRET).toString("base64"),
      Buffer.from(SECRET).toString("hex"),
    ])
      expect(everything).not.toContain(piece);
    expect(answer.receipt).toMatchObject({ costBearer: "customer", isTest: false, billingMode: "byok" });
  });
});

test("an execution whose account is disconnected sends nothing more after a second", {
  tags: "long",
}, async () => {
  await withAccount(async ({ ctx, vendor, organizationId, credentialId, bindingId }) => {
    vendor.answer(SCRIPT_BUSY, SCRIPT_BUSY, SCRIPT_BUSY, { json: response() });
    const running = pins.run(ctx, ask(OWN)).catch((error) => error);
    while (vendor.arrived.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await credentials.unbindCredential(system, organizationId, credentialId, bindingId);
    const refused = await running;
    expect(refused).toMatchObject({ code: "ProviderUnavailable", details: { safelyRetryable: true } });
    expect(vendor.arrived.length).toBe(1);
  });
});
const SCRIPT_BUSY = {
  status: 429,
  headers: { "retry-after-ms": "1100" },
  json: { error: { code: "rate_limit_exceeded" } },
};
