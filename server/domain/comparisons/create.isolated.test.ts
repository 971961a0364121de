/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import { ComparisonEstimateRequest } from "@/server/contract/comparisons";
import * as adapters from "@/server/domain/adapters";
import * as budgets from "@/server/domain/budgets";
import * as comparisons from "@/server/domain/comparisons";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newAdapter } from "@/testing/adapters";
import { createComparisonKilledAt } from "@/testing/processes";
import { makeProject, rowsOf, type TestProject } from "@/testing/world";
import { ask, finished, pinned, QUESTION, TEXT } from "./comparisons.fixture";
import { shuffled } from "./create";

const IMAGE = "image.generate.v1";

/** What of a project was written for comparisons. */
async function written({ projectId }: Pick<TestProject, "projectId">) {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table} WHERE project_id = $1) AS ${table}`;
  const tables = ["comparison", "comparison_entry", "job", "hold", "payload", "job_event"];
  const { rows } = await pool.query(`SELECT ${tables.map(count).join(", ")}`, [projectId]);
  return rows[0];
}
const NOTHING = { comparison: 0, comparison_entry: 0, job: 0, hold: 0, payload: 0, job_event: 0 };

/** Which competitor is where, by its place in the request. */
async function placesOf(comparisonId: string, asked: string[]): Promise<number[]> {
  const { rows } = await pool.query<{ model: string }>(
    `SELECT model FROM comparison_entry entry JOIN job ON job.id = entry.job_id
     WHERE entry.comparison_id = $1 ORDER BY position`,
    [comparisonId],
  );
  return rows.map(({ model }) => asked.indexOf(model.replace("sandbox-", "")));
}

describe("admission", () => {
  const MODELS = ["1", "2", "slow", "fail"];

  test("a budget that warns of the dearer one alone shows it in no event, and what is held is listed under no competitor", async () => {
    const project = await makeProject();
    const asked = { competitors: pinned("1", "2"), input: QUESTION };
    const { total, competitors } = await comparisons.estimate(project.ctx, TEXT, asked);
    const least = Math.min(...competitors.map(({ maximumCostMicros }) => maximumCostMicros));
    expect(least).toBeLessThan(total.maximumCostMicros - least);
    await budgets.set(systemCtx("test"), {
      owner: { projectId: project.projectId },
      period: "month",
      ceilingMicros: total.maximumCostMicros - 1,
      enforcement: "warn",
    });
    const made = await ask(project, pinned("1", "2"));
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    const warned = all.filter(({ job }) => job.warnings.length > 0);
    expect(warned).toHaveLength(1);
    const shown = await Promise.all(
      made.entries.map(({ jobId }) => jobs.events(project.ctx, jobId, { limit: 10 })),
    );
    expect(shown.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ["job.queued"],
      ["job.queued"],
    ]);
    const { rows } = await pool.query("SELECT id, execution_id FROM hold_line WHERE project_id = $1", [
      project.projectId,
    ]);
    const { comparisonId } = made;
    expect(rows).toEqual([{ id: `hold_${comparisonId.slice(-26)}`, execution_id: comparisonId }]);
  });

  test("every competitor is a queued blind job with a hold, in the order that the stored seed draws", async () => {
    const project = await makeProject();
    const made = await ask(project, pinned(...MODELS), {
      workloadTags: { run: 7 },
      intent: "golden_regression",
    });
    expect(made).toMatchObject({
      status: "running",
      intent: "golden_regression",
      workloadTags: { run: 7 },
      idempotencyKey: null,
      judgement: null,
      cost: null,
      nextAction: "poll",
    });
    expect(await written(project)).toEqual({
      comparison: 1,
      comparison_entry: 4,
      job: 4,
      hold: 4,
      payload: 4,
      job_event: 4,
    });
    const { rows } = await pool.query("SELECT * FROM comparison WHERE id = $1", [made.comparisonId]);
    expect(await placesOf(made.comparisonId, MODELS)).toEqual(shuffled(4, rows[0].seed));
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    expect(rows[0]).toMatchObject({
      estimated_micros: all.reduce((sum, { job }) => sum + job.estimated_micros, 0),
      maximum_micros: all.reduce((sum, { hold }) => sum + hold.amount_micros, 0),
    });
    for (const [position, { job, events }] of all.entries()) {
      expect(job).toMatchObject({
        is_blind: true,
        comparison_id: made.comparisonId,
        status: "queued",
        dispatch_state: "pending",
        idempotency_key: made.entries[position]?.entryId,
      });
      expect(job.created_at).toEqual(rows[0].created_at);
      expect(events.map(({ type }) => type)).toEqual(["job.queued"]);
    }
    // Ids are made in the order of the entries, and at one moment.
    for (const ids of [made.entries.map(({ jobId }) => jobId), made.entries.map(({ entryId }) => entryId)])
      expect(ids).toEqual([...ids].sort());
  });

  test("a seed draws each of the orders about as often, and the same one always", () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed++) {
      const order = shuffled(3, seed);
      expect(shuffled(3, seed)).toEqual(order);
      counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  test("over twelve comparisons of the same two, each is first in some", async () => {
    const project = await makeProject();
    const firsts = new Set<number | undefined>();
    for (let at = 0; at < 12; at++) {
      const { comparisonId } = await ask(project, pinned("1", "2"));
      firsts.add((await placesOf(comparisonId, ["1", "2"]))[0]);
    }
    expect(firsts.size).toBe(2); // all alike: once in two thousand
  });

  test("where one has to wait for approval all do, and none tells more than another", async () => {
    const project = await makeProject();
    const models = pinned("1", "2");
    const { competitors } = await comparisons.estimate(project.ctx, TEXT, {
      competitors: models,
      input: QUESTION,
    });
    const [cheap = 0, dear = 0] = competitors
      .map(({ estimatedCostMicros }) => estimatedCostMicros)
      .sort((a, b) => a - b);
    expect(cheap).toBeLessThan(dear);
    await pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [
      project.projectId,
      cheap,
    ]);
    const made = await ask(project, models);
    expect(made.entries.map(({ status }) => status)).toEqual(["awaiting_approval", "awaiting_approval"]);
    expect(made).toMatchObject({ status: "running", nextAction: "poll" });
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    expect(all[0]?.job.approval).toEqual(all[1]?.job.approval);
    expect(all[0]?.job.approval).toMatchObject({ estimatedMicros: dear });
    for (const { events, job, hold } of all) {
      expect(events.map(({ type }) => type)).toEqual(["job.awaiting_approval"]);
      expect(job.dispatch_state).toBe("none");
      expect(hold.state).toBe("open");
    }
    const [first, second] = made.entries.map(({ jobId }) => jobId);
    await jobs.approve(systemCtx("person", project.clock.now), first ?? "");
    await jobs.reject(systemCtx("person", project.clock.now), second ?? "");
    expect((await finished(project, made)).status).toBe("partial");
  });

  test("a process that dies between the commit and the wakes leaves all of them to the sweeper", async () => {
    const project = await makeProject();
    const request = {
      projectId: project.projectId,
      capability: TEXT,
      competitors: pinned("1", "2"),
      input: QUESTION,
    };
    expect(await createComparisonKilledAt(request, "after-admission")).toBe("SIGKILL");
    const [line] = (await comparisons.list(project.ctx, project.projectId, { limit: 10 })).items;
    const made = await comparisons.get(project.ctx, line?.comparisonId ?? "");
    expect(made.entries.map(({ status }) => status)).toEqual(["queued", "queued"]);
    project.clock.advance(11_000);
    await jobs.sweep(project.ctx, project);
    for (const { jobId } of made.entries)
      expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_state: "pending", dispatch_number: 2 });
    expect((await finished(project, made)).status).toBe("completed");
  });
});

describe("idempotency", () => {
  test("of many at once under one key one is made, and all are answered with it", async () => {
    const project = await makeProject();
    const again = () => ask(project, pinned("1", "2"), { idempotencyKey: "once" });
    const answers = await Promise.all(Array.from({ length: 12 }, again));
    expect(new Set(answers.map(({ comparisonId }) => comparisonId)).size).toBe(1);
    expect(await written(project)).toMatchObject({ comparison: 1, comparison_entry: 2, job: 2, hold: 2 });
    expect(await again()).toEqual(answers[0]);
  });

  test("of different requests at once under one key one is made, and the others are conflicts", async () => {
    const project = await makeProject();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        ask(project, pinned("1", "2"), { idempotencyKey: "once", workloadTags: { n } }),
      ),
    );
    const made = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value.comparisonId] : []));
    expect(made).toHaveLength(1);
    for (const each of outcomes)
      if (each.status === "rejected")
        expect(each.reason).toMatchObject({ code: "IdempotencyConflict", details: { jobId: made[0] } });
    expect(await written(project)).toMatchObject({ comparison: 1, job: 2, hold: 2 });
  });

  test("a key is of one project, and of comparisons: a job may have the same", async () => {
    const [project, other] = [await makeProject(), await makeProject()];
    const key = { idempotencyKey: "shared" };
    const job = await jobs.submit(project.ctx, TEXT, { input: QUESTION, ...key });
    const one = await ask(project, pinned("1", "2"), key);
    const two = await ask(other, pinned("1", "2"), key);
    expect(new Set([job.jobId, one.comparisonId, two.comparisonId]).size).toBe(3);
  });

  test("a replay answers with the comparison as it is, though it could not be made any more", async () => {
    const project = await makeProject();
    const key = { idempotencyKey: "later" };
    const done = await finished(project, await ask(project, pinned("1", "2"), key));
    await pool.query("UPDATE wallet SET balance_micros = 0 WHERE organization_id = $1", [
      project.organizationId,
    ]);
    expect(await ask(project, pinned("1", "2"), key)).toEqual(done);
  });
});

describe("money", () => {
  let maximum: number;
  beforeAll(async () => {
    const { ctx } = await makeProject();
    const asked = { competitors: pinned("1", "2"), input: QUESTION };
    maximum = (await comparisons.estimate(ctx, TEXT, asked)).total.maximumCostMicros;
  });

  test("twenty at once against a budget with room for three: each is whole or nothing, and the counts agree", async () => {
    const project = await makeProject();
    const { projectId } = project;
    const limits = {
      period: "total",
      ceilingMicros: 3 * maximum + maximum / 2,
      enforcement: "prevent",
    } as const;
    await budgets.set(systemCtx("test"), {
      owner: { projectId },
      ...limits,
      ceilingMicros: Math.floor(limits.ceilingMicros),
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => ask(project, pinned("1", "2"))),
    );
    const made = outcomes.filter(({ status }) => status === "fulfilled");
    for (const each of outcomes)
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "BudgetExceeded" });
    expect(made).toHaveLength(3);
    expect(await written(project)).toMatchObject({
      comparison: 3,
      comparison_entry: 6,
      job: 6,
      hold: 6,
      payload: 6,
    });
    const { rows } = await pool.query(
      `SELECT sum(held_micros)::bigint AS held_micros, (SELECT sum(amount_micros)::bigint FROM hold WHERE project_id = $1) AS holds
       FROM budget_window w JOIN budget b ON b.id = w.budget_id WHERE b.project_id = $1`,
      [projectId],
    );
    expect(rows).toEqual([{ held_micros: 3 * maximum, holds: 3 * maximum }]);
  });

  test("funds for one competitor alone make none, and take nothing", async () => {
    const project = await makeProject({ walletMicros: maximum - 1 });
    await expect(ask(project, pinned("1", "2"))).rejects.toMatchObject({ code: "funding_required" });
    expect(await written(project)).toEqual(NOTHING);
    const other = await makeProject({ walletMicros: maximum });
    await ask(other, pinned("1", "2"));
    expect(await written(other)).toMatchObject({ comparison: 1, hold: 2 });
  });

  test("a competitor that cannot be planned refuses all, by its place in the request", async () => {
    const project = await makeProject();
    await expect(ask(project, pinned("1", "2", "gone"))).rejects.toMatchObject({
      code: "ROUTE_UNAVAILABLE",
      details: { competitor: 2, field: "competitors.2.providerPin" },
    });
    expect(await written(project)).toEqual(NOTHING);
  });

  test("an estimate is the sum of what the jobs hold, writes nothing, and its ids cannot be used as a quote", async () => {
    const project = await makeProject();
    const asked = ComparisonEstimateRequest.parse({ competitors: pinned("1", "2"), input: QUESTION });
    const estimate = await comparisons.estimate(project.ctx, TEXT, asked);
    expect(JSON.stringify(estimate)).not.toMatch(/quote_|cmp_|cent_|"id"/);
    expect(await written(project)).toEqual(NOTHING);
    const { rows } = await pool.query("SELECT FROM retail_quote WHERE project_id = $1", [project.projectId]);
    expect(rows).toEqual([]);
    const made = await ask(project, pinned("1", "2"));
    expect([made.estimatedCost, made.maximumCost]).toEqual([
      estimate.total.estimatedCost,
      estimate.total.maximumCost,
    ]);
    for (const quoteId of [made.comparisonId, made.entries[0]?.entryId])
      await expect(
        jobs.submit(project.ctx, TEXT, { input: QUESTION, execution: { quoteId: quoteId ?? "" } }),
      ).rejects.toMatchObject({ code: "QUOTE_MISMATCH", details: { reason: "comparison_estimate" } });
  });
});

describe("axes", () => {
  /** The requests of a comparison's jobs, by the place of their competitor. */
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

  test("a recipe replaces fields of the input, and null takes one away; its values are kept with the request alone", async () => {
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

  test("HashesOnly leaves no content anywhere once it has run, recipes included", async () => {
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

  test("a profile sets what it names, in its last version unless one is asked for", async () => {
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
  ] as const)("%s would ask the same of the same model, which is refused", async (_, competitors) => {
    const project = await makeProject();
    const wanted = { issues: [expect.objectContaining({ loc: ["body", "competitors", 1] })] };
    const input = { prompt: "A kite" };
    const list = [...competitors] as Parameters<typeof ask>[1];
    await expect(ask(project, list, { capability: IMAGE, input })).rejects.toMatchObject(wanted);
    const asked = ComparisonEstimateRequest.parse({ competitors: list, input });
    await expect(comparisons.estimate(project.ctx, IMAGE, asked)).rejects.toMatchObject(wanted);
    expect(await written(project)).toEqual(NOTHING);
  });

  test("what runs here durably has recipes and nothing else to compare", async () => {
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

  test("an adapter by its alias and by its id is the same adapter; another weight is another request", async () => {
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

  test("every capability's profiles are those its input takes", async () => {
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
