import { expect, test } from "vitest";
import type { AdapterChoice } from "@/server/contract/adapters";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { providers } from "@/server/providers/registry.gen";
import { makeProject } from "@/testing/world";
import * as adapters from ".";
import { putAdapter, refusal } from "./adapters.fixture";

const IMAGE = "image.generate.v1";

async function setUp() {
  const { ctx, projectId } = await makeProject();
  const place = { projectId, environment: "development" };
  const resolve = (choices?: AdapterChoice[]) => adapters.resolveAdapters(place, choices, IMAGE);
  const alias = (name: string, adapterId: string, weight?: number) =>
    adapters.createAlias(ctx, {}, { alias: name, target: { adapterId, weight } });
  return { ctx, projectId, resolve, alias };
}

const only = ({ adapters: [first] }: adapters.Resolved) => first;

test("a weight is the chosen one, else the alias version's, else the recommended one, else 1", async () => {
  const { ctx, resolve, alias } = await setUp();
  const plain = await putAdapter(ctx, "plain", { triggerWords: ["brass rider"], sha256: "0".repeat(64) });
  const said = await putAdapter(ctx, "said", { recommendedWeight: 0.5 });
  const weighed = await alias("Weighed", said.adapterId, 0);
  await alias("Bare", said.adapterId);
  expect(only(await resolve([{ adapterId: plain.adapterId }]))).toEqual({
    adapterId: plain.adapterId,
    displayName: "plain",
    alias: null,
    weight: 1,
    triggerWords: ["brass rider"],
    source: {
      kind: "huggingface",
      ref: plain.source.ref,
      revision: plain.source.revision,
      filePath: "lora.safetensors",
      provider: null,
    },
    sha256: "0".repeat(64),
    artifactId: null,
  });
  expect(only(await resolve([{ adapterId: said.adapterId }]))?.weight).toBe(0.5);
  expect(only(await resolve([{ alias: "bare" }]))?.weight).toBe(0.5);
  expect(only(await resolve([{ alias: "WEIGHED" }]))).toMatchObject({
    weight: 0,
    alias: { name: "Weighed", versionId: weighed.current.versionId, number: 1 },
  });
  expect(only(await resolve([{ alias: "weighed", weight: 2 }]))?.weight).toBe(2);
});

test("a request without adapters uses the default at its bound version; an empty list uses none", async () => {
  const { ctx, resolve, alias } = await setUp();
  expect(await resolve()).toEqual(adapters.NO_ADAPTERS);
  const first = await putAdapter(ctx, "first");
  const second = await putAdapter(ctx, "second");
  await alias("Hero", first.adapterId);
  await adapters.setDefault(ctx, IMAGE, {}, { alias: "hero" });
  expect(await resolve()).toMatchObject({ isDefault: true, adapters: [{ adapterId: first.adapterId }] });
  await adapters.bindRecipe(ctx, "hero", {}, {});
  await adapters.promote(ctx, "hero", {}, { target: { adapterId: second.adapterId } });
  expect(only(await resolve())).toMatchObject({ adapterId: first.adapterId, alias: { number: 1 } });
  expect(only(await resolve([{ alias: "hero" }]))).toMatchObject({
    adapterId: second.adapterId,
    alias: { number: 2 },
  });
  expect(await resolve([])).toEqual(adapters.NO_ADAPTERS);
  await adapters.clearDefault(ctx, IMAGE, {});
  expect((await resolve()).adapters).toEqual([]);
});

test("only models that support all adapters of a request can run it", async () => {
  const { ctx, resolve } = await setUp();
  const flux = await putAdapter(ctx, "flux", { baseModelFamily: "FLUX.1" });
  const xl = await putAdapter(ctx, "xl", { baseModelFamily: "SDXL 1.0" });
  const named = await putAdapter(ctx, "named", {
    baseModelFamily: null,
    compatibleModels: ["fal-ai/flux-lora"],
  });
  const ofReplicate = await putAdapter(ctx, "theirs", { kind: "provider_ref", provider: "replicate" });
  const modelsOf = async (...ids: string[]) =>
    (await resolve(ids.map((adapterId) => ({ adapterId })))).only?.models ?? [];
  const all = await modelsOf(flux.adapterId);
  expect(all).toEqual(
    expect.arrayContaining([
      "fal/fal-ai/flux-lora",
      "replicate/black-forest-labs/flux-dev-lora",
      "sandbox/sandbox-1",
    ]),
  );
  expect(all.every((each) => /^(fal|replicate|sandbox)\//.test(each))).toBe(true);
  expect(all).not.toContain("fal/fal-ai/flux/dev");
  const ofXl = await modelsOf(xl.adapterId);
  expect(ofXl.length).toBeGreaterThan(0);
  expect(ofXl.every((each) => each.startsWith("sandbox/"))).toBe(true);
  expect(await modelsOf(named.adapterId)).toEqual(["fal/fal-ai/flux-lora"]);
  expect(await modelsOf(flux.adapterId, named.adapterId)).toEqual(["fal/fal-ai/flux-lora"]);
  expect(await modelsOf(flux.adapterId, ofReplicate.adapterId)).toEqual([
    "replicate/black-forest-labs/flux-dev-lora",
  ]);
  for (const other of [xl, named])
    expect(await refusal(modelsOf(ofReplicate.adapterId, other.adapterId))).toBe(
      "body.input.adapters incompatible",
    );
  expect(await refusal(modelsOf(flux.adapterId, xl.adapterId))).toBe("body.input.adapters incompatible");
});

test("each unusable adapter of a request is refused at its place, in one answer", {
  tags: "long",
}, async () => {
  const { ctx, projectId, resolve, alias } = await setUp();
  const good = await putAdapter(ctx, "good");
  const loose = await putAdapter(ctx, "loose", { frozen: false, revision: null, filePath: null });
  const lost = await putAdapter(ctx, "lost");
  await pool.query("UPDATE model_adapter SET health_status = 'missing' WHERE id = $1", [lost.adapterId]);
  const strange = await putAdapter(ctx, "strange", { baseModelFamily: "a family of our own" });
  const mute = await putAdapter(ctx, "mute", { baseModelFamily: null });
  const unfit = await putAdapter(ctx, "unfit", { compatibleModels: ["gpt-image-2"] });
  const foreign = await putAdapter((await makeProject()).ctx, "foreign");
  const gone = await putAdapter(ctx, "gone");
  await adapters.remove(ctx, gone.adapterId);
  await alias("Good", good.adapterId);
  for (const [choice, wanted] of [
    [{ alias: "missing" }, "alias not_found"],
    [{ adapterId: newId("adapter") }, "adapterId not_found"],
    [{ adapterId: foreign.adapterId }, "adapterId not_found"],
    [{ adapterId: gone.adapterId }, "adapterId not_found"],
    [{ adapterId: loose.adapterId }, "adapterId not_frozen"],
    [{ adapterId: lost.adapterId }, "adapterId missing"],
    [{ adapterId: strange.adapterId }, "adapterId incompatible"],
    [{ adapterId: mute.adapterId }, "adapterId incompatible"],
    [{ adapterId: unfit.adapterId }, "adapterId incompatible"],
    [{ adapterId: good.adapterId }, "adapterId repeated"],
  ] as const)
    expect(await refusal(resolve([{ alias: "good" }, choice]))).toBe(`body.input.adapters.1.${wanted}`);
  // The adapter and its aliases report the obstacle before a request is refused, in the same words.
  for (const { adapterId, displayName } of [loose, lost, strange, mute, unfit]) {
    const { runnable, notRunnable } = await adapters.get(ctx, adapterId);
    const [obstacle, ...more] = notRunnable;
    expect([runnable, obstacle?.nextStep, more]).toEqual([false, expect.stringMatching(/\.$/), []]);
    const issues = [{ type: obstacle?.code, msg: obstacle?.message }];
    await expect(resolve([{ adapterId }])).rejects.toMatchObject({ issues });
    await alias(`${displayName} shown`, adapterId);
    expect(await adapters.getAlias(ctx, `${displayName} shown`, { projectId })).toMatchObject({
      runnable,
      notRunnable,
    });
  }
  expect(good).toMatchObject({ runnable: true, notRunnable: [] });
  expect(await adapters.getAlias(ctx, "good", { projectId })).toMatchObject({
    runnable: true,
    notRunnable: [],
  });
  await expect(resolve([{ alias: "missing" }, { adapterId: loose.adapterId }])).rejects.toMatchObject({
    issues: [{ type: "not_found" }, { type: "not_frozen" }],
  });
  const many = Array.from({ length: 5 }, () => ({ alias: "good" }));
  expect(await refusal(resolve(many))).toBe("body.input.adapters too_long");
  await alias("Lost", lost.adapterId);
  await adapters.setDefault(ctx, IMAGE, {}, { alias: "lost" });
  expect(await refusal(resolve())).toBe("body.input.adapters missing");
  const elsewhere = { projectId, environment: "production" };
  expect(await refusal(adapters.resolveAdapters(elsewhere, [{ alias: "good" }], IMAGE))).toBe(
    "body.input.adapters.0.alias not_found",
  );
});

test.each([
  ["replicate", "replicate:owner/model", "owner/model/v1"],
  ["replicate", "owner/model", "owner/model/v1"],
  ["sandbox", "sandbox:house-style", "house-style"],
])("%s gets the reference %j without the prefix of the provider's name", async (name, ref, url) => {
  const provider = providers.find((each) => each.name === name)!;
  const source = { kind: "provider_ref", ref, revision: "v1", filePath: null, provider: name } as const;
  const adapter = { source, weight: 1, artifactId: null } as unknown as adapters.ResolvedAdapter; // `toCall` reads these
  expect(await adapters.toCall([adapter], provider, new Date())).toEqual([{ url, weight: 1 }]);
});
