/** @module-tag long */
import { describe, expect, test } from "vitest";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import { ComparisonEstimateRequest } from "@/server/contract/comparisons";
import * as adapters from "@/server/domain/adapters";
import * as comparisons from "@/server/domain/comparisons";
import { pool } from "@/server/platform/db";
import { newAdapter } from "@/testing/adapters";
import { makeProject } from "@/testing/world";
import { ask, finished, NOTHING, pinned, QUESTION, TEXT, written } from "./comparisons.fixture";
import { shuffled } from "./create";

const IMAGE = "image.generate.v1";

describe("axes", () => {
  /** Reads the requests of a comparison's jobs, in the order of the competitors. */
  async function requestsOf(comparisonId: string, count: number) {
    const { rows } = await pool.query(
      `SELECT content::jsonb AS request, job.model, entry.competitor, seed FROM comparison_entry entry
       JOIN comparison ON comparison.id = entry.comparison_id
       JOIN job ON job.id = entry.job_id JOIN payload ON payload.job_id = job.id AND payload.kind = 'request'
       WHERE entry.comparison_id = $1 ORDER BY position`,
      [comparisonId],
    );
    const order = shuffled(count, rows[0].seed);
    return Array.from({ length: count }, (_, place) => rows[order.indexOf(place)]);
  }

  test("a recipe replaces input fields, null removes one, and its values are stored only with the request", async () => {
    const project = await makeProject();
    const input = { prompt: "A kite", quality: "low", width: 1024 };
    const made = await ask(
      project,
      [
        { axis: "recipe", label: "As it is", inputOverrides: {} },
        { axis: "recipe", label: "Wide", inputOverrides: { width: 1536, quality: null } },
      ],
      { capability: IMAGE, input },
    );
    const [one, two] = await requestsOf(made.comparisonId, 2);
    expect(one.request.input).toEqual(input);
    expect(two.request.input).toEqual({ prompt: "A kite", width: 1536 });
    expect(two.competitor).toEqual({
      axis: "recipe",
      label: "Wide",
      inputOverrides: { width: null, quality: null },
    });
    expect(made.entries.every((entry) => !("competitor" in entry))).toBe(true);
    const done = await finished(project, made);
    const judged = await comparisons.judge(project.ctx, made.comparisonId, { decision: "tie" });
    expect(done.entries.map((entry) => "competitor" in entry)).toEqual([false, false]);
    expect(judged.entries.map(({ competitor }) => competitor)).toEqual(
      expect.arrayContaining([
        { axis: "recipe", label: "As it is", inputOverrides: {} },
        { axis: "recipe", label: "Wide", inputOverrides: { width: 1536, quality: null } },
      ]),
    );
    expect(judged.entries.every(({ providerPin }) => providerPin === "sandbox/sandbox-1")).toBe(true);
    await pool.query("UPDATE payload SET content = NULL WHERE project_id = $1", [project.projectId]);
    const later = await comparisons.get(project.ctx, made.comparisonId);
    expect(later.entries.map(({ competitor }) => competitor?.inputOverrides)).toEqual([null, null]);
  });

  test("HashesOnly leaves no content of a recipe in the rows of its comparison", async () => {
    const project = await makeProject();
    const secret = "a word that no one may keep";
    const recipe = {
      axis: "recipe" as const,
      inputOverrides: { messages: [{ role: "user", content: secret }] },
    };
    const made = await ask(project, [...pinned("1"), recipe], {
      context: { retentionRequirement: "HashesOnly" },
    });
    await finished(project, made);
    const { rows } = await pool.query(
      `SELECT comparison::text || entry::text AS text FROM comparison JOIN comparison_entry entry ON entry.comparison_id = comparison.id
       WHERE comparison.id = $1`,
      [made.comparisonId],
    );
    expect(rows).toHaveLength(2);
    for (const { text } of rows) expect(text).not.toContain(secret);
  });

  test("a profile applies its settings, in its last version unless one is named", async () => {
    const project = await makeProject();
    const made = await ask(project, [
      { axis: "profile", profileKey: "reasoning-economy" },
      { axis: "profile", profileKey: "reasoning-deep", profileVersion: "1" },
    ]);
    const [one, two] = await requestsOf(made.comparisonId, 2);
    expect([one.request.sampling, two.request.sampling]).toEqual([
      { reasoningIntent: "economy" },
      { reasoningIntent: "deep" },
    ]);
    expect(one.competitor).toEqual({ axis: "profile", profileKey: "reasoning-economy", profileVersion: "1" });
    const drawn = await ask(
      project,
      [
        { axis: "profile", profileKey: "quality-low" },
        { axis: "provider", providerPin: "sandbox-image" },
        { axis: "provider", providerPin: "sandbox/sandbox-2" },
      ],
      { capability: IMAGE, input: { prompt: "A kite", quality: "high" } },
    );
    const [low, any, named] = await requestsOf(drawn.comparisonId, 3);
    expect([low.request.input.quality, any.request.input.quality]).toEqual(["low", "high"]);
    expect([low.model, any.model, named.model]).toEqual(["sandbox-1", "sandbox-1", "sandbox-2"]);
  });

  test.each([
    ["two names of one model", [{ axis: "provider", providerPin: "sandbox" }, ...pinned("1")]],
    [
      "a recipe that says what is the default",
      [...pinned("1"), { axis: "recipe", inputOverrides: { quality: "medium" } }],
    ],
    [
      "a profile that sets what is there",
      [
        { axis: "profile", profileKey: "quality-medium" },
        { axis: "recipe", inputOverrides: {} },
      ],
    ],
  ] as const)(
    "%s would send the same request to the same model, which is refused",
    async (_, competitors) => {
      const project = await makeProject();
      const wanted = { issues: [expect.objectContaining({ loc: ["body", "competitors", 1] })] };
      const input = { prompt: "A kite" };
      const list = [...competitors] as Parameters<typeof ask>[1];
      await expect(ask(project, list, { capability: IMAGE, input })).rejects.toMatchObject(wanted);
      const asked = ComparisonEstimateRequest.parse({ competitors: list, input });
      await expect(comparisons.estimate(project.ctx, IMAGE, asked)).rejects.toMatchObject(wanted);
      expect(await written(project)).toEqual(NOTHING);
    },
  );

  test("a durable capability without a provider can compare only recipes", async () => {
    const { ctx } = await makeProject();
    const local = await comparisons.options(ctx, "3d.render_reference.v1");
    expect(local).toMatchObject({ axes: ["recipe"], defaultCompetitors: [], providers: [], profiles: [] });
    const asked = (competitors: unknown) =>
      comparisons.estimate(
        ctx,
        "3d.render_reference.v1",
        ComparisonEstimateRequest.parse({ competitors, input: {} }),
      );
    const recipe = { axis: "recipe", inputOverrides: {} };
    for (const [competitor, field] of [
      [{ axis: "provider", providerPin: "sandbox" }, "providerPin"],
      [{ axis: "profile", profileKey: "quality-low" }, "profileKey"],
    ] as const)
      await expect(asked([recipe, competitor])).rejects.toMatchObject({
        issues: [expect.objectContaining({ loc: ["body", "competitors", 1, field] })],
      });
  });

  test("an adapter's alias and its id are the same adapter, and another weight is another request", async () => {
    const { ctx } = await makeProject();
    const { adapterId } = await adapters.register(ctx, {}, ModelAdapterCreate.parse(newAdapter()));
    await adapters.createAlias(ctx, {}, { alias: "Hero", target: { adapterId } });
    const asked = (...used: object[]) =>
      comparisons.estimate(
        ctx,
        IMAGE,
        ComparisonEstimateRequest.parse({
          competitors: used.map((each) => ({ axis: "recipe", inputOverrides: { adapters: [each] } })),
          input: { prompt: "A kite" },
        }),
      );
    await expect(asked({ alias: "Hero" }, { adapterId })).rejects.toMatchObject({
      issues: [expect.objectContaining({ loc: ["body", "competitors", 1] })],
    });
    expect((await asked({ alias: "Hero" }, { adapterId, weight: 0.5 })).competitors).toHaveLength(2);
  });

  test("every capability offers the profiles that its input supports", async () => {
    const { ctx } = await makeProject();
    const of = async (key: string) =>
      (await comparisons.options(ctx, key)).profiles.map(({ profileKey }) => profileKey);
    expect(await of(IMAGE)).toEqual(["quality-low", "quality-medium", "quality-high"]);
    expect(await of("model.generate.3d.v1")).toEqual(
      ["draft-fast", "toy-default", "clean-game-mesh", "hero-hd", "enhanced-retry"].map(
        (name) => `mesh-${name}`,
      ),
    );
    expect(await of("text.reasoning.high.v1")).toHaveLength(4);
    for (const key of ["audio.sfx.generate.v1", "video.generate.v1", "3d.render_reference.v1"])
      expect(await of(key)).toEqual([]);
    const prompt = { prompt: "A kite" };
    for (const [key, input] of [
      [IMAGE, prompt],
      [TEXT, QUESTION],
      ["text.reasoning.high.v1", QUESTION],
    ] as const) {
      const competitors = (await of(key)).map((profileKey) => ({ axis: "profile" as const, profileKey }));
      const { competitors: priced } = await comparisons.estimate(ctx, key, { competitors, input });
      expect(priced.map(({ competitor }) => competitor)).toEqual(competitors);
    }
  });
});
