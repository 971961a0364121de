/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { campaign } from "@/testing/campaign";
import { work } from "@/testing/meshes";
import { rowsOf } from "@/testing/world";
import {
  base,
  KEY,
  MESH,
  openTenant,
  read,
  receiptOf,
  SHEET,
  submit,
  tenant,
  withFee,
} from "./stages.fixture";

beforeAll(openTenant);

/** Sets the model of the first stage in the job's row, because no input has a field for it. */
async function drawnBy(jobId: string, model: string) {
  await pool.query(
    `UPDATE job SET pricing = jsonb_set(pricing, '{stages,0,route,model}', to_jsonb($2::text)) WHERE id = $1`,
    [jobId, model],
  );
}

describe("a quote covers all stages", () => {
  test.each([
    ["sheet2x2", "exact", SHEET + MESH, SHEET + MESH],
    ["perView", "exact", 4 * SHEET + MESH, 4 * SHEET + MESH],
    ["panelRepair", "upper_bound", SHEET + MESH, 5 * SHEET + MESH],
  ])("the quote of %s is %s, from %i to %i", async (turnaroundMode, qualifier, least, most) => {
    const { json } = await tenant.post(`/v1/capabilities/${KEY}/quote`, {
      input: { baseArtifactId: base, turnaroundMode },
    });
    expect(json.pricing.quote).toMatchObject({
      qualifier,
      customerTotal: { amountMicros: withFee(least) },
      maximumCustomerTotal: { amountMicros: withFee(most) },
    });
    const jobId = await submit({ turnaroundMode }, { execution: { quoteId: json.pricing.quote.quoteId } });
    expect((await rowsOf(jobId)).hold).toMatchObject({ state: "open", amount_micros: withFee(most) });
  });

  test("a total above the call's own ceiling is refused", async () => {
    const { status, json } = await tenant.post(`/v1/capabilities/${KEY}/jobs`, {
      input: { baseArtifactId: base },
      maxCostUsd: 0.05,
    });
    expect([status, json.code]).toEqual([402, "BudgetExceeded"]);
  });
});

describe("the money of both stages", () => {
  const MESH_ENDS: [string, string, string, number | null][] = [
    ["sandbox-refuse", "ProviderRejected", "settled", withFee(SHEET)],
    ["sandbox-fail", "PROVIDER_ERROR", "settled", withFee(SHEET)],
    ["sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled", withFee(SHEET)],
    ["sandbox-lost", "TRANSPORT_AMBIGUOUS", "ambiguous", null],
  ];
  test.each(campaign.sample(MESH_ENDS, ([, , state]) => [state]))(
    "a mesh by %s fails with %s, and the hold is %s at %s",
    async (preferredModel, code, state, settled) => {
      const jobId = await submit({}, { preferredModel });
      await work(jobId);
      const job = await read(jobId);
      expect(job).toMatchObject({ status: "failed", error: { code }, retry: { newKeySafe: false } });
      // The views were paid for, so they stay.
      expect(job.artifacts).toHaveLength(5);
      expect((await rowsOf(jobId)).hold).toMatchObject({ state, settled_micros: settled });
      expect((await receiptOf(jobId)).stages[0]).toMatchObject({ cost: { amountMicros: SHEET } });
    },
  );

  const DRAWING_ENDS: [string, string, string, number | null, boolean][] = [
    ["sandbox-refuse", "ProviderRejected", "released", null, true],
    ["sandbox-fail", "PROVIDER_ERROR", "released", null, false],
    ["sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled", 0, false],
    ["sandbox-lost", "TRANSPORT_AMBIGUOUS", "ambiguous", null, false],
  ];
  test.each(
    campaign.sample(DRAWING_ENDS, ([, code, , , isSafe]) => [
      `${isSafe}`,
      code === "PROVIDER_EMPTY_OUTPUT" ? "empty" : "",
    ]),
  )(
    "a drawing by %s fails with %s, the hold is %s at %s, and no mesh is made",
    async (model, code, state, settled, isSafe) => {
      const jobId = await submit();
      await drawnBy(jobId, model);
      await work(jobId);
      expect(await read(jobId)).toMatchObject({
        status: "failed",
        error: { code },
        retry: { newKeySafe: isSafe },
      });
      const { hold, attempts } = await rowsOf(jobId);
      expect(hold).toMatchObject({ state, settled_micros: settled });
      expect(attempts).toHaveLength(1);
    },
  );
});

describe("refused input", () => {
  test.each<[object, string[]]>([
    [{ baseArtifactId: "" }, ["baseArtifactId"]],
    [{ baseArtifactId: "art_0" }, ["baseArtifactId"]],
    [{ turnaroundMode: "spin" }, ["turnaroundMode"]],
    [{ requireTurnaroundApproval: "yes" }, ["requireTurnaroundApproval"]],
    [{ meshProfile: "hero_hd", meshSettings: { profile: "draft_fast" } }, ["meshSettings", "profile"]],
    [
      { meshSettings: { textureReferenceArtifactId: "art_0" } },
      ["meshSettings", "textureReferenceArtifactId"],
    ],
  ])("%j is refused at %j", async (input, field) => {
    const { status, json } = await tenant.post(`/v1/capabilities/${KEY}/jobs`, {
      input: { baseArtifactId: base, ...input },
    });
    expect(status).toBe(422);
    expect(json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([["body", "input", ...field]]);
  });

  test.each<[object, string, number]>([
    [{ resolvedPrompt: "x".repeat(32_001) }, "resolvedPrompt", 32_000],
    [{ meshSettings: { texturePrompt: "x".repeat(801) } }, "meshSettings.texturePrompt", 800],
    [
      { meshSettings: { overrides: { texturePrompt: "x".repeat(801) } } },
      "meshSettings.overrides.texturePrompt",
      800,
    ],
  ])("a text longer than its descriptor allows is refused: %#", async (input, field, maxCharacters) => {
    const { status, json } = await tenant.post(`/v1/capabilities/${KEY}/jobs`, {
      input: { baseArtifactId: base, ...input },
    });
    expect([status, json.code]).toEqual([422, "PromptTooLong"]);
    expect(json.detail).toMatchObject({
      field: `input.${field}`,
      maxCharacters,
      actualCharacters: maxCharacters + 1,
    });
  });
});
