/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { validateGlb } from "@/testing/glb";
import { projectLeasesPass } from "@/testing/leases";
import { work } from "@/testing/meshes";
import { runJobKilledAt } from "@/testing/processes";
import { rowsOf, startJob, testClock } from "@/testing/world";
import { attempt } from "./run";
import { MESH, openTenant, read, receiptOf, SHEET, submit, tenant, withFee } from "./stages.fixture";

beforeAll(openTenant);

/** The attempts in the rows, each with the number of its requests that reached the sandbox. */
async function callsOf(jobId: string) {
  const attempts = (await rowsOf(jobId)).attempts.sort((a, b) => a.number - b.number);
  return Promise.all(
    attempts.map(async ({ id, number, stage, submission, cost_micros }) => {
      const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${id}`);
      const { count } = (await answer.json()) as { count: number }; // our own sandbox
      return { number, stage, submission, cost: cost_micros, arrived: count };
    }),
  );
}
const answered = (number: number, stage: string | null, cost: number) => ({
  number,
  stage,
  submission: "attempted",
  cost,
  arrived: 1,
});

type Shown = { kind: string; label: string | null; slotStatus: string | null };
const slotsOf = (artifacts: Shown[]) =>
  artifacts.map(({ kind, label, slotStatus }) =>
    [kind, label, slotStatus].filter((each) => each !== null).join(" "),
  );
const VIEWS = ["front", "right", "back", "left"];

describe("one picture becomes four views and a mesh", () => {
  test("sheet2x2 makes one call of each stage, six artifacts, and one receipt for both", async () => {
    const jobId = await submit({ resolvedPrompt: "A brass robot", meshSettings: { shouldTexture: false } });
    await work(jobId);
    const job = await read(jobId);
    expect(job.error).toBeNull();
    expect(slotsOf(job.artifacts)).toEqual([
      "turnaround_sheet",
      ...VIEWS.map((view) => `turnaround_view ${view} filled`),
      "mesh",
    ]);
    const mesh = job.artifacts.at(-1);
    expect(job).toMatchObject({ status: "succeeded", primaryArtifactId: mesh.artifactId });
    expect(job.typedOutput.artifacts.map(({ kind }: Shown) => kind)).toEqual(
      job.artifacts.map(({ kind }: Shown) => kind),
    );
    expect((await validateGlb((await tenant.get(mesh.downloadPath)).bytes)).problems).toEqual([]);

    expect(await callsOf(jobId)).toEqual([answered(1, "turnaround", SHEET), answered(2, null, MESH)]);
    const { hold, ledger, events } = await rowsOf(jobId);
    expect(hold).toMatchObject({
      state: "settled",
      amount_micros: withFee(SHEET + MESH),
      settled_micros: withFee(SHEET + MESH),
    });
    expect(ledger.reduce((sum, { amount_micros }) => sum + amount_micros, 0)).toBe(0);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    const receipt = await receiptOf(jobId);
    expect(receipt.stages).toMatchObject([
      {
        stage: "turnaround",
        provider: "sandbox",
        model: "sandbox-1",
        usage: { images: 1 },
        cost: { amountMicros: SHEET },
      },
      {
        stage: "main",
        provider: "sandbox",
        model: "sandbox-1",
        usage: { meshes: 1 },
        cost: { amountMicros: MESH },
      },
    ]);
    expect(receipt).toMatchObject({
      logicalAttempts: 2,
      providerSubmissions: 2,
      usage: { images: 1, meshes: 1 },
      pricing: { providerCost: { amount: { amountMicros: SHEET + MESH } } },
    });
    expect(receipt.artifacts).toHaveLength(6);
  });

  test.each<[string, string[], number]>([
    ["sheet1x4", ["turnaround"], 60_000],
    ["perView", VIEWS.map((view) => `turnaround.${view}`), 4 * SHEET],
    ["panelRepair", ["turnaround"], SHEET],
  ])("%s makes the calls %j", async (turnaroundMode, stages, cost) => {
    const jobId = await submit({ turnaroundMode });
    await work(jobId);
    const job = await read(jobId);
    expect(job.error).toBeNull();
    const views = job.artifacts.filter(({ kind }: Shown) => kind === "turnaround_view");
    expect(slotsOf(views)).toEqual(VIEWS.map((view) => `turnaround_view ${view} filled`));
    const calls = await callsOf(jobId);
    expect(calls.map(({ stage, arrived }) => [stage, arrived])).toEqual(
      [...stages, null].map((stage) => [stage, 1]),
    );
    expect((await rowsOf(jobId)).hold).toMatchObject({ settled_micros: withFee(cost + MESH) });
  });

  test("panelRepair redraws only the views that the sheet lacks, once each", async () => {
    const jobId = await submit({ turnaroundMode: "panelRepair" }, { preferredModel: "sandbox-gappy" });
    await work(jobId);
    const job = await read(jobId);
    expect(job.error).toBeNull();
    expect(slotsOf(job.artifacts)).toEqual([
      "turnaround_sheet",
      "turnaround_view front filled",
      "turnaround_view right empty",
      "turnaround_view back broken",
      "turnaround_view left filled",
      "turnaround_view right repaired",
      "turnaround_view back repaired",
      "mesh",
    ]);
    expect(await callsOf(jobId)).toEqual([
      answered(1, "turnaround", SHEET),
      answered(2, "turnaround.right", SHEET),
      answered(3, "turnaround.back", SHEET),
      answered(4, null, MESH),
    ]);
    expect((await rowsOf(jobId)).hold).toMatchObject({
      amount_micros: withFee(5 * SHEET + MESH),
      settled_micros: withFee(3 * SHEET + MESH),
    });
    // The preferred model can only draw, so the mesh is made by the default model.
    expect((await receiptOf(jobId)).stages.map(({ model }: { model: string }) => model)).toEqual([
      "sandbox-gappy",
      "sandbox-gappy",
      "sandbox-gappy",
      "sandbox-1",
    ]);
  });
});

describe("a person looks at the views before the mesh is made", () => {
  async function waiting() {
    const jobId = await submit({ requireTurnaroundApproval: true });
    await work(jobId);
    const job = await read(jobId);
    expect(job).toMatchObject({ status: "awaiting_approval", nextAction: "present_approval" });
    return { jobId, job };
  }

  test("the approval shows the views, and then the mesh is made from them and nothing is drawn again", async () => {
    const { jobId, job } = await waiting();
    expect(job.approval).toMatchObject({ reason: "turnaround_review", step: "turnaround" });
    expect(
      job.approval.artifacts.map(({ artifactId, label }: Record<string, string>) => [artifactId, label]),
    ).toEqual(job.artifacts.map(({ artifactId, label }: Record<string, string>) => [artifactId, label]));
    expect(slotsOf(job.approval.artifacts)).toContain("turnaround_view left filled");
    expect(await callsOf(jobId)).toEqual([answered(1, "turnaround", SHEET)]);
    // A wake without a decision leaves the job waiting.
    await work(jobId);
    expect((await read(jobId)).status).toBe("awaiting_approval");
    expect((await tenant.post(`/v1/jobs/${jobId}/approve`, {})).status).toBe(200);
    await work(jobId);
    expect(await read(jobId)).toMatchObject({ status: "succeeded" });
    expect(await callsOf(jobId)).toEqual([answered(1, "turnaround", SHEET), answered(2, null, MESH)]);
  });

  const REFUSALS = [
    ["rejected", "reject", "ApprovalRejected"],
    ["canceled", "cancel", "Cancelled"],
  ] as const;
  test.each(campaign.inTurn(REFUSALS, 0))(
    "a job that is %s ends canceled, with the cost of the drawing on its receipt",
    async (_case, verb, code) => {
      const { jobId } = await waiting();
      expect((await tenant.post(`/v1/jobs/${jobId}/${verb}`, {})).status).toBe(200);
      const job = await read(jobId);
      expect(job).toMatchObject({ status: "canceled", retry: { newKeySafe: false } });
      expect(job.artifacts).toHaveLength(5);
      const receipt = await receiptOf(jobId);
      expect(receipt).toMatchObject({
        status: "canceled",
        error: { code },
        stages: [{ stage: "turnaround", cost: { amountMicros: SHEET } }],
        pricing: { providerCost: { amount: { amountMicros: SHEET } } },
      });
      expect(receipt.artifacts).toHaveLength(5);
      expect((await rowsOf(jobId)).hold).toMatchObject({ state: "settled", settled_micros: withFee(SHEET) });
      expect(await callsOf(jobId)).toEqual([answered(1, "turnaround", SHEET)]);
    },
  );

  test("a review that no one decides in time is canceled as ApprovalExpired, and the drawing is charged", async () => {
    const { jobId } = await waiting();
    const clock = testClock();
    clock.advance(8 * DAY_MS);
    await jobs.sweep({ ...systemCtx("test"), now: clock.now }, { projectId: tenant.projectId });
    expect(await read(jobId)).toMatchObject({ status: "canceled", error: { code: "ApprovalExpired" } });
    expect((await rowsOf(jobId)).hold).toMatchObject({ state: "settled", settled_micros: withFee(SHEET) });
  });
});

describe("a process that dies between the stages", () => {
  test.each(campaign.inTurn(["after-answer", "after-stage-kept", "after-attempt-opened"] as const, 1))(
    "after a kill at %s another process continues from there, and each call arrives once",
    async (place) => {
      const jobId = await submit({ turnaroundMode: "sheet2x2" });
      expect(await runJobKilledAt(jobId, place)).toBe("SIGKILL");
      const clock = testClock();
      clock.advance(60_000);
      await projectLeasesPass(tenant.projectId, 60_000);
      await jobs.sweep({ ...systemCtx("test"), now: clock.now }, { projectId: tenant.projectId });
      await work(jobId, clock);
      const job = await read(jobId);
      expect(job.error).toBeNull();
      expect(slotsOf(job.artifacts)).toEqual([
        "turnaround_sheet",
        ...VIEWS.map((view) => `turnaround_view ${view} filled`),
        "mesh",
      ]);
      expect(await callsOf(jobId)).toEqual([answered(1, "turnaround", SHEET), answered(2, null, MESH)]);
    },
  );

  test("a kill after the drawing's submission was recorded leaves the drawing ambiguous, and neither it nor a mesh is sent", async () => {
    const jobId = await submit();
    expect(await runJobKilledAt(jobId, "after-submission-begun")).toBe("SIGKILL");
    const clock = testClock();
    clock.advance(60_000);
    await projectLeasesPass(tenant.projectId, 60_000);
    await jobs.sweep({ ...systemCtx("test"), now: clock.now }, { projectId: tenant.projectId });
    await work(jobId, clock);
    expect(await read(jobId)).toMatchObject({ status: "failed", error: { code: "TRANSPORT_AMBIGUOUS" } });
    expect(await callsOf(jobId)).toMatchObject([{ number: 1, submission: "ambiguous", arrived: 0 }]);
    expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
  });

  test("two workers with the same job make each call once", async () => {
    const jobId = await submit({
      turnaroundMode: campaign.size({ small: "sheet2x2", full: "perView" }),
    });
    const ctx = { ...systemCtx("test"), now: testClock().now };
    const started = await startJob(ctx, jobId);
    const turns = async () => {
      for (let turn = 0; turn < 40; turn++)
        if ((await attempt(ctx, jobId, started!)).state === "ended") return;
    };
    await Promise.all([turns(), turns()]);
    await work(jobId);
    const calls = await callsOf(jobId);
    expect(calls.map(({ arrived }) => arrived)).toEqual(
      campaign.size({ small: [1, 1], full: [1, 1, 1, 1, 1] }),
    );
    const views = (await read(jobId)).artifacts.filter(({ kind }: Shown) => kind === "turnaround_view");
    expect(views).toHaveLength(4);
  });
});
