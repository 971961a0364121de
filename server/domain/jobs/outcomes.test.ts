import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

type Row = {
  model: string;
  status: "succeeded" | "failed";
  code: string | null;
  submission: "attempted" | "ambiguous";
  newKeySafe: boolean;
  nextAction: string;
  hold: "settled" | "released" | "ambiguous";
  seconds?: number;
};

const TABLE: Row[] = [
  {
    model: "sandbox-1",
    status: "succeeded",
    code: null,
    submission: "attempted",
    newKeySafe: false,
    nextAction: "download_artifacts",
    hold: "settled",
  },
  {
    model: "sandbox-2",
    status: "succeeded",
    code: null,
    submission: "attempted",
    newKeySafe: false,
    nextAction: "download_artifacts",
    hold: "settled",
  },
  {
    model: "sandbox-slow",
    status: "failed",
    code: "ExecutionTimeout",
    submission: "attempted",
    newKeySafe: false,
    nextAction: "inspect_error",
    hold: "settled",
    seconds: 5,
  },
  {
    model: "sandbox-refuse",
    status: "failed",
    code: "ProviderRejected",
    submission: "attempted",
    newKeySafe: true,
    nextAction: "inspect_error",
    hold: "released",
  },
  {
    model: "sandbox-busy",
    status: "succeeded",
    code: null,
    submission: "attempted",
    newKeySafe: false,
    nextAction: "download_artifacts",
    hold: "settled",
  },
  {
    model: "sandbox-lost",
    status: "failed",
    code: "TRANSPORT_AMBIGUOUS",
    submission: "ambiguous",
    newKeySafe: false,
    nextAction: "inspect_error",
    hold: "ambiguous",
  },
  {
    model: "sandbox-empty",
    status: "failed",
    code: "PROVIDER_EMPTY_OUTPUT",
    submission: "attempted",
    newKeySafe: false,
    nextAction: "inspect_error",
    hold: "settled",
  },
  {
    model: "sandbox-fail",
    status: "failed",
    code: "PROVIDER_ERROR",
    submission: "attempted",
    newKeySafe: false,
    nextAction: "inspect_error",
    hold: "settled",
  },
];

const INPUTS = {
  "text.general.fast.v1": { messages: [{ role: "user", content: "Say something." }] },
  "image.generate.v1": { prompt: "A quiet harbour", width: 816, height: 816 },
};

for (const [capability, input] of Object.entries(INPUTS)) {
  for (const row of TABLE) {
    test(`${capability} on ${row.model} ends as ${row.code ?? row.status}, hold ${row.hold}`, async () => {
      const { ctx, clock } = await makeProject();
      const submitted = await jobs.submit(ctx, capability, {
        input,
        preferredModel: row.model,
        ...(row.seconds ? { maxDurationSeconds: row.seconds } : {}),
      });
      await jobs.run(ctx, submitted.jobId, inlineStep(clock));
      const job = await jobs.get(ctx, submitted.jobId);
      expect({
        status: job.status,
        code: job.error?.code ?? null,
        newKeySafe: job.retry.newKeySafe,
        nextAction: job.nextAction,
      }).toEqual({
        status: row.status,
        code: row.code,
        newKeySafe: row.newKeySafe,
        nextAction: row.nextAction,
      });
      const rows = await rowsOf(job.jobId);
      expect(rows.attempts[0]?.submission).toBe(row.submission);
      expect(rows.hold?.state).toBe(row.hold);
      expect(rows.receipts).toHaveLength(1);
      expect(rows.events.map((event) => event.id)).toEqual(rows.events.map((_, position) => position + 1));
      expect(
        rows.events.filter((event) => /^job\.(succeeded|failed|canceled)$/.test(event.type)),
      ).toHaveLength(1);
      expect(rows.ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
      if (row.hold === "settled" && job.actualCost !== 0) expect(rows.ledger.length).toBeGreaterThan(0);
      const receipt = await jobs.receipt(ctx, job.jobId);
      expect(receipt).toMatchObject({
        jobId: job.jobId,
        status: row.status,
        providerSubmission: row.submission,
        holdState: row.hold,
      });
      if (row.model === "sandbox-busy") expect(receipt.capacityRejections).toBe(2);
      if (row.code === "ExecutionTimeout" || row.code === "PROVIDER_ERROR") {
        expect(job.actualCost).toBeNull();
        expect(receipt.pricing?.providerCost?.amount).toBeNull();
      }
    });
  }
}

test("an artifact's bytes have the SHA-256 its receipt names", async () => {
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

test("the work of a free local capability is recorded like any other, without money", async () => {
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

test("a failed expression answers with its own code and leaves a failed record", async () => {
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
