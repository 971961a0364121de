import { beforeAll, describe, expect, test } from "vitest";
import type { JobEvent } from "@/server/contract/job-events";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { projectLeasesPass } from "@/testing/leases";
import { rowsOf, startJob, testClock } from "@/testing/world";
import { attempt } from "../running/run";
import { readJob } from "../running/work";
import { paragraphs } from "./paragraphs";
import { readerOf } from "./reader";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

async function submit(question: string, model = "sandbox-1", more: object = {}): Promise<string> {
  const { status, json } = await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
    input: { messages: [{ role: "user", content: question }] },
    execution: { executionConstraints: { preferredModel: model } },
    readerDelivery: { boundary: "paragraph" },
    ...more,
  });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.jobId;
}

const readerTexts = async (jobId: string): Promise<JobEvent[]> =>
  (await tenant.get(`/v1/jobs/${jobId}/events?type=job.reader_text&limit=200`)).json.events;
const textOf = (events: JobEvent[]) => events.map(({ payload }) => payload.text).join("");

describe("the cuts of a text", () => {
  const long = Array.from({ length: 80 }, (_, place) => `Sentence ${place} goes on for a while.`).join(" ");
  const text = `\n\nOne.\n\nTwo has\ntwo lines.\n \n\n\n${long}\n\n${"x".repeat(7_000)} ${"😀".repeat(3_000)}`;

  test("a text is cut the same however it arrives, and nothing is lost", () => {
    const cuts = [1, 2, 7, 100, text.length].map((size) => {
      const cutter = paragraphs();
      const spans: string[] = [];
      for (let at = 0; at < text.length; at += size) spans.push(...cutter.push(text.slice(at, at + size)));
      return [...spans, cutter.rest()];
    });
    for (const spans of cuts) expect(spans).toEqual(cuts[0]);
    const spans = cuts[0]!;
    expect(spans.join("")).toBe(text);
    expect(spans.slice(0, 2)).toEqual(["\n\nOne.\n\n", "Two has\ntwo lines.\n \n\n\n"]);
    expect(spans[2]).toMatch(/^Sentence 0 .*\. $/);
    expect(spans.every((span) => span.length > 0 && span.length <= 2_400)).toBe(true);
    for (const span of spans) expect(Buffer.from(span).toString()).toBe(span);
  });
});

describe("a job with readerDelivery", () => {
  test("the paragraphs are events in order and without gaps, and together they are the sealed output", async () => {
    const jobId = await submit("Tell me of rivers in 5 paragraphs");
    const job = await finish(jobId);
    expect(job.status).toBe("succeeded");
    const events = await readerTexts(jobId);
    expect(events.length).toBeGreaterThanOrEqual(5);
    for (const [place, { payload }] of events.entries()) {
      expect(payload).toMatchObject({ sequence: place + 1, boundary: "paragraph", provisional: true });
      expect(payload.text).not.toBe("");
      expect(payload.length).toBe(String(payload.text).length);
    }
    expect(textOf(events)).toBe((job.typedOutput as { content: string }).content);
    // The job made one provider call, and no event contains the text.
    expect((await rowsOf(jobId)).attempts).toHaveLength(1);
    const { rows } = await pool.query("SELECT payload FROM job_event WHERE job_id = $1", [jobId]);
    expect(JSON.stringify(rows)).not.toContain("rivers");
  });

  test("a stream of events shows the same as pages, and removed text is null on pages", async () => {
    const jobId = await submit("Tell me of lakes in 3 paragraphs");
    await finish(jobId);
    const stream: JobEvent[] = [];
    for await (const { items } of await jobs.followEvents(systemCtx("test"), jobId, {
      type: "job.reader_text",
    }))
      stream.push(...items);
    expect(stream).toEqual(await readerTexts(jobId));
    await pool.query("DELETE FROM event_text WHERE job_id = $1", [jobId]);
    const pruned = await readerTexts(jobId);
    expect(pruned.map(({ payload }) => [payload.text, payload.sha256])).toEqual(
      stream.map(({ payload }) => [null, payload.sha256]),
    );
  });

  test("private text is stored encrypted", async () => {
    const jobId = await submit("Tell me of rivers in 3 paragraphs", "sandbox-1", {
      context: { dataClassification: "Manuscript" },
    });
    await finish(jobId);
    expect(textOf(await readerTexts(jobId))).toContain("rivers");
    const { rows } = await pool.query("SELECT text FROM event_text WHERE job_id = $1", [jobId]);
    expect(JSON.stringify(rows)).not.toContain("rivers");
  });

  test("a job whose call breaks off keeps the shown paragraphs, fails as ambiguous and is not safe to retry", async () => {
    const jobId = await submit("Tell me of rivers in 8 paragraphs", "sandbox-lost");
    const job = await finish(jobId);
    expect(job).toMatchObject({
      status: "failed",
      error: { code: "TRANSPORT_AMBIGUOUS" },
      retry: { newKeySafe: false },
    });
    expect((await readerTexts(jobId)).length).toBeGreaterThan(0);
    const { json: receipt } = await tenant.get(`/v1/jobs/${jobId}/receipt`);
    expect(receipt.pricing.providerCost ?? receipt.pricing.actual?.providerCost).toMatchObject({
      status: "unknown",
      amount: null,
    });
  });

  test("a worker that dies after the first paragraph leaves an ambiguous job, without a second call", async () => {
    const jobId = await submit("Tell me of rivers in 3 paragraphs");
    const clock = testClock();
    const ctx = systemCtx("worker", clock.now);
    const started = await startJob(ctx, jobId);
    const row = await readJob(jobId);
    // The first worker submitted, showed one paragraph and died.
    await pool.query(
      "UPDATE attempt SET submission = 'ambiguous', submission_begun_at = now() WHERE job_id = $1",
      [jobId],
    );
    const reader = readerOf(row!, started!.fence, clock.now);
    reader.push("The first.\n\nThe sec");
    expect(await reader.close("The first.\n\nThe third.")).toBe("differs");
    clock.advance(60_000);
    await projectLeasesPass(tenant.projectId, 60_000);
    await jobs.sweep(systemCtx("sweeper", clock.now), { projectId: tenant.projectId });
    expect((await attempt(ctx, jobId, started!)).state).toBe("ended");
    const job = await jobs.get(ctx, jobId);
    expect(job).toMatchObject({ status: "failed", error: { code: "TRANSPORT_AMBIGUOUS" } });
    expect(job.retry.newKeySafe).toBe(false);
    expect((await readerTexts(jobId)).map(({ payload }) => payload.text)).toEqual(["The first.\n\n"]);
  });

  test("a job that is being canceled gets no more text, and each paragraph is added once", async () => {
    const jobId = await submit("Tell me of rivers");
    const started = await startJob(systemCtx("worker"), jobId);
    const row = await readJob(jobId);
    const [one, again] = [0, 1].map(() => readerOf(row!, started!.fence, () => new Date()));
    for (const reader of [one!, again!]) {
      reader.push("Same.\n\nText");
      expect(await reader.close("Same.\n\nText")).toBe("complete");
    }
    expect(textOf(await readerTexts(jobId))).toBe("Same.\n\nText");
    await jobs.cancel(systemCtx("test"), jobId);
    const late = readerOf(row!, started!.fence, () => new Date());
    late.push("Same.\n\nText\n\nand more");
    expect(await late.close("Same.\n\nText\n\nand more")).toBe("closed");
    expect(textOf(await readerTexts(jobId))).toBe("Same.\n\nText");
  });

  test("a capability whose text can be followed describes readerDelivery", async () => {
    const { json: descriptor } = await tenant.get("/v1/capabilities/text.general.fast.v1");
    expect(descriptor.features.readerDelivery).toMatchObject({
      processingTier: "standard",
      deferredDiscountApplies: false,
      providers: expect.arrayContaining(["openai", "sandbox"]),
    });
    const { json: image } = await tenant.get("/v1/capabilities/image.generate.v1");
    expect(image.features.readerDelivery).toBeUndefined();
  });
});
