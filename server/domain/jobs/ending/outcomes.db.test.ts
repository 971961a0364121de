import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { microsToUsd } from "@/server/platform/money";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

type Row = {
  model: string;
  /** The execution limit in seconds; with the sandbox's slow model it decides how the job ends. */
  seconds?: number;
  /** The most tokens that the answer may have; only for text. */
  tokens?: number;
  /** The part of the answer that is returned despite the failure. */
  partial?: RegExp;
  status: "succeeded" | "failed";
  code: string | null;
  submission: "attempted" | "ambiguous" | "not_attempted";
  capacityRejections: number;
  newKeySafe: boolean;
  nextAction: string;
  hold: "settled" | "released" | "ambiguous";
  /** How much is known about the provider's cost, which decides the charge. */
  cost: "known" | "exposed" | "none" | "unknown";
};

const SUCCEEDED = {
  status: "succeeded",
  code: null,
  submission: "attempted",
  newKeySafe: false,
  nextAction: "download_artifacts",
  hold: "settled",
  cost: "known",
} as const;
const FAILED = { status: "failed", capacityRejections: 0, nextAction: "inspect_error" } as const;

/** The expected ending of each sandbox model. */
const TABLE: Row[] = [
  { model: "sandbox-1", capacityRejections: 0, ...SUCCEEDED },
  { model: "sandbox-2", capacityRejections: 0, ...SUCCEEDED },
  { model: "sandbox-slow", capacityRejections: 0, ...SUCCEEDED },
  {
    model: "sandbox-slow",
    seconds: 5,
    ...FAILED,
    code: "ExecutionTimeout",
    submission: "attempted",
    newKeySafe: false,
    hold: "ambiguous",
    cost: "unknown",
  },
  {
    model: "sandbox-refuse",
    ...FAILED,
    code: "ProviderRejected",
    submission: "attempted",
    newKeySafe: true,
    hold: "released",
    cost: "none",
  },
  { model: "sandbox-busy", capacityRejections: 2, ...SUCCEEDED },
  {
    model: "sandbox-lost",
    ...FAILED,
    code: "TRANSPORT_AMBIGUOUS",
    submission: "ambiguous",
    newKeySafe: false,
    hold: "ambiguous",
    cost: "unknown",
  },
  {
    model: "sandbox-empty",
    ...FAILED,
    code: "PROVIDER_EMPTY_OUTPUT",
    submission: "attempted",
    newKeySafe: false,
    hold: "settled",
    cost: "known",
  },
  {
    model: "sandbox-1",
    tokens: 3,
    ...FAILED,
    code: "OutputLimitReached",
    submission: "attempted",
    capacityRejections: 0,
    newKeySafe: false,
    hold: "settled",
    cost: "known",
    partial: /^.{12}$/,
  },
  {
    model: "sandbox-fail",
    ...FAILED,
    code: "PROVIDER_ERROR",
    submission: "attempted",
    newKeySafe: false,
    hold: "released",
    cost: "exposed",
  },
];
const NEVER_STARTED: Row = {
  model: "sandbox-1",
  ...FAILED,
  code: "QueueTimeout",
  submission: "not_attempted",
  newKeySafe: true,
  nextAction: "retry_new",
  hold: "released",
  cost: "none",
};

const INPUTS = {
  "text.general.fast.v1": { messages: [{ role: "user", content: "Say something." }] },
  "image.generate.v1": { prompt: "A quiet harbour", width: 816, height: 816 },
};

/** Checks every column of a row against the job, its rows and its receipt. */
async function expectRow(ctx: Parameters<typeof jobs.get>[0], jobId: string, row: Row): Promise<void> {
  const job = await jobs.get(ctx, jobId);
  expect({
    status: job.status,
    code: job.error?.code ?? null,
    submission: job.diagnostics?.backendState,
    retry: job.retry,
    nextAction: job.nextAction,
    pollAfterSeconds: job.pollAfterSeconds,
  }).toEqual({
    status: row.status,
    code: row.code,
    submission: row.submission,
    retry: { sameKey: false, newKeySafe: row.newKeySafe },
    nextAction: row.nextAction,
    pollAfterSeconds: null,
  });
  if (row.status === "failed") {
    const partial = row.partial && { role: "assistant", content: expect.stringMatching(row.partial) };
    expect((await jobs.result(ctx, jobId)).typedOutput).toEqual(partial ?? null);
  }
  const { attempts, hold, receipts, events, ledger } = await rowsOf(jobId);
  expect(attempts[0]?.submission ?? "not_attempted").toBe(row.submission);
  expect(attempts[0]?.capacity_rejections ?? 0).toBe(row.capacityRejections);
  expect(hold.state).toBe(row.hold);
  expect(receipts).toHaveLength(1);
  expect(events.map((event) => event.id)).toEqual(events.map((_, position) => position + 1));
  expect(events.filter((event) => /^job\.(succeeded|failed|canceled)$/.test(event.type))).toHaveLength(1);
  expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);

  const receipt = await jobs.receipt(ctx, jobId);
  expect(receipt).toMatchObject({
    jobId,
    receiptId: job.receiptId,
    status: row.status,
    providerSubmission: row.submission,
    capacityRejections: row.capacityRejections,
    holdState: row.hold,
    error: row.code === null ? null : { code: row.code },
  });
  const spent = receipt.pricing?.providerCost?.amount?.amountMicros ?? null;
  const charged = receipt.pricing?.charge?.customerCharge?.amountMicros ?? null;
  switch (row.cost) {
    case "known":
      expect(spent).not.toBeNull();
      expect(job.actualCost).toBe(microsToUsd(spent ?? Number.NaN));
      expect(hold.settled_micros).toBe(charged);
      break;
    case "exposed":
      // The customer pays nothing; the operator bears what the provider may charge.
      expect({ spent, charged, actualCost: job.actualCost }).toEqual({
        spent: null,
        charged: 0,
        actualCost: null,
      });
      expect(receipt.pricing?.providerCost).toMatchObject({ amount: null, status: "unknown" });
      expect(ledger).toMatchObject([
        { account: "operator", kind: "exposure", amount_micros: expect.any(Number) },
        { account: `exposure:sandbox/${row.model}`, kind: "exposure", amount_micros: expect.any(Number) },
      ]);
      break;
    case "none":
      expect({ spent, charged, actualCost: job.actualCost, ledger }).toEqual({
        spent: 0,
        charged: 0,
        actualCost: 0,
        ledger: [],
      });
      break;
    case "unknown":
      expect({ spent, charged, actualCost: job.actualCost, ledger }).toEqual({
        spent: null,
        charged: null,
        actualCost: null,
        ledger: [],
      });
      break;
  }
}

for (const [capability, input] of Object.entries(INPUTS)) {
  for (const row of TABLE.filter(({ tokens }) => !tokens || "messages" in input)) {
    const limit = row.seconds ? ` within ${row.seconds} s` : row.tokens ? ` within ${row.tokens} tokens` : "";
    test.concurrent(`${capability} on ${row.model}${limit} ends as ${row.code ?? row.status}, hold ${row.hold}`, async () => {
      const { ctx, clock } = await makeProject();
      const { jobId } = await jobs.submit(ctx, capability, {
        input: { ...input, ...(row.tokens ? { maxOutputTokens: row.tokens } : {}) },
        preferredModel: row.model,
        ...(row.seconds ? { maxDurationSeconds: row.seconds } : {}),
      });
      await jobs.run(ctx, jobId, inlineStep(clock));
      await expectRow(ctx, jobId, row);
    }, 30_000);
  }

  test(`${capability} that is never started ends as QueueTimeout, hold released`, async () => {
    const { ctx, clock, projectId } = await makeProject();
    const { jobId } = await jobs.submit(ctx, capability, { input, preferredModel: NEVER_STARTED.model });
    const { rows } = await pool.query("SELECT queue_seconds FROM job WHERE id = $1", [jobId]);
    clock.advance((rows[0].queue_seconds - 60) * 1000);
    await jobs.sweep(ctx, { projectId });
    expect((await jobs.get(ctx, jobId)).status).toBe("queued");
    clock.advance(61_000);
    await jobs.sweep(ctx, { projectId });
    await expectRow(ctx, jobId, NEVER_STARTED);
  });
}

test("through an interface that accepts partial answers, one cut off at its limit succeeds as length, charged by its usage", async () => {
  const { ctx } = await makeProject();
  const input = { ...INPUTS["text.general.fast.v1"], maxOutputTokens: 3 };
  const result = await jobs.invoke(
    ctx,
    "text.general.fast.v1",
    { input },
    { idempotencyHeader: undefined, door: {} },
  );
  expect(result).toMatchObject({
    status: "succeeded",
    terminationReason: "length",
    typedOutput: { role: "assistant", content: expect.stringMatching(/^.{12}$/) },
  });
  await expectRow(ctx, result.executionId, { model: "sandbox-1", capacityRejections: 0, ...SUCCEEDED });
});

test("an artifact has the SHA-256 that its receipt names", { tags: "long" }, async () => {
  const { ctx, clock } = await makeProject();
  const { jobId } = await jobs.submit(ctx, "image.generate.v1", { prompt: "A red kite", variantCount: 2 });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const receipt = await jobs.receipt(ctx, jobId);
  expect(receipt.artifacts).toHaveLength(2);
  for (const artifact of receipt.artifacts) {
    const found = await jobs.artifact(ctx, jobId, artifact.artifactId);
    expect(found.sha256).toBe(artifact.sha256);
  }
});

test("a free local capability is recorded like any other execution, without money", async () => {
  const { ctx } = await makeProject();
  const result = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "0.1 + 0.2" });
  expect(result.typedOutput).toMatchObject({ result: "0.3" });
  const rows = await rowsOf(result.executionId);
  expect(rows.job).toMatchObject({ status: "succeeded", operation: "invoke" });
  expect(rows.hold).toBeUndefined();
  expect(rows.ledger).toEqual([]);
  expect(await jobs.receipt(ctx, result.executionId)).toMatchObject({
    provenance: { deterministic: true, providerBacked: false },
  });
});

test("a failed expression returns its own code and leaves a failed record", async () => {
  const { ctx } = await makeProject();
  const refused = await jobs
    .invoke(ctx, "compute.evaluate.v1", { expression: "1 / 0" })
    .catch((cause) => cause);
  expect(refused.code).toBe("division_by_zero");
  expect(await jobs.get(ctx, refused.details.executionId)).toMatchObject({
    status: "failed",
    error: { code: "division_by_zero" },
  });
});
