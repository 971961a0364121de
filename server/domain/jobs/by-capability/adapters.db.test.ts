import { expect, test } from "vitest";
import type { AdapterChoice } from "@/server/contract/adapters";
import * as adapters from "@/server/domain/adapters";
import { putAdapter } from "@/server/domain/adapters/adapters.fixture";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { publicKeys } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import { verifyDocument } from "@/server/verify";
import { inlineStep, makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";

const IMAGE = "image.generate.v1";
const prompt = "A harbour in winter";

/** A project with an adapter in the sandbox, under an alias. */
async function setUp() {
  const project = await makeProject();
  const { ctx } = project;
  const put = (name: string, more: Parameters<typeof putAdapter>[2] = {}) =>
    putAdapter(ctx, name, {
      kind: "provider_ref",
      provider: "sandbox",
      revision: "1",
      filePath: null,
      ...more,
    });
  const first = await put("First", { triggerWords: ["brass rider"], sha256: "a".repeat(64) });
  const second = await put("Second");
  const alias = await adapters.createAlias(
    ctx,
    {},
    { alias: "Hero", target: { adapterId: first.adapterId, weight: 0.7 } },
  );
  const promote = (adapterId: string, weight?: number) =>
    adapters.promote(ctx, "hero", {}, { target: { adapterId, weight } });
  return { project, ctx, put, first, second, alias, promote };
}

const input = (choices?: AdapterChoice[]) => ({ prompt, ...(choices ? { adapters: choices } : {}) });

async function finish(project: TestProject, jobId: string) {
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return jobs.get(project.ctx, jobId);
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads receipts of every shape
const drawnWith = async (project: TestProject, jobId: string): Promise<any[]> =>
  ((await jobs.receipt(project.ctx, jobId)).media as { adapters?: unknown[] }).adapters as unknown[]; // a picture's media

const refused = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (cause: { code?: string; message: string; details?: object }) => ({ ...cause, message: cause.message }),
  );

test("the receipt names the adapter that the alias pointed to, and verifies offline", async () => {
  const { project, ctx, first, alias } = await setUp();
  const { jobId } = await jobs.submit(ctx, IMAGE, { input: input([{ alias: "hero" }]) });
  expect(await finish(project, jobId)).toMatchObject({ status: "succeeded" });
  expect(await drawnWith(project, jobId)).toEqual([
    {
      adapterId: first.adapterId,
      displayName: "First",
      alias: "Hero",
      aliasVersionId: alias.current.versionId,
      aliasVersionNumber: 1,
      weight: 0.7,
      triggerWords: ["brass rider"],
      source: {
        kind: "provider_ref",
        ref: first.source.ref,
        revision: "1",
        filePath: null,
        provider: "sandbox",
      },
      sha256: "a".repeat(64),
      byDefault: false,
    },
  ]);
  const receipt = await jobs.receipt(ctx, jobId);
  const keys = await publicKeys();
  expect((await verifyDocument(receipt, keys)).verified).toBe(true);
  const changed = structuredClone(receipt);
  // biome-ignore lint/suspicious/noExplicitAny: changed on purpose
  (changed.media as any).adapters[0].weight = 0.8;
  expect((await verifyDocument(changed, keys)).verified).toBe(false);
});

test("a default adapter draws at the version that its recipe fixes, and an empty list draws without one", {
  tags: "long",
}, async () => {
  const { project, ctx, first, second, promote } = await setUp();
  await adapters.setDefault(ctx, IMAGE, {}, { alias: "hero" });
  await adapters.bindRecipe(ctx, "hero", {}, {});
  await promote(second.adapterId);
  const { jobId } = await jobs.submit(ctx, IMAGE, { input: input() });
  await finish(project, jobId);
  expect(await drawnWith(project, jobId)).toMatchObject([
    { adapterId: first.adapterId, alias: "Hero", aliasVersionNumber: 1, byDefault: true },
  ]);
  const without = await jobs.submit(ctx, IMAGE, { input: input([]) });
  expect(await finish(project, without.jobId)).toMatchObject({ status: "succeeded" });
  expect(await drawnWith(project, without.jobId)).toBeUndefined();
  const named = await jobs.submit(ctx, IMAGE, { input: input([{ alias: "hero" }]) });
  await finish(project, named.jobId);
  expect(await drawnWith(project, named.jobId)).toMatchObject([
    { adapterId: second.adapterId, aliasVersionNumber: 2, byDefault: false },
  ]);
  await adapters.clearDefault(ctx, IMAGE, {});
  const cleared = await jobs.submit(ctx, IMAGE, { input: input() });
  await finish(project, cleared.jobId);
  expect(await drawnWith(project, cleared.jobId)).toBeUndefined();
});

test("an adapter and its weight change the picture, and the same request draws the same picture", {
  tags: "long",
}, async () => {
  const { project, ctx, first, second } = await setUp();
  const drawn = async (choices: AdapterChoice[]) => {
    const { jobId } = await jobs.submit(ctx, IMAGE, { input: input(choices) });
    return (await finish(project, jobId)).artifacts[0]?.sha256;
  };
  const one = { adapterId: first.adapterId, weight: 0.5 };
  const pictures = [
    await drawn([]),
    await drawn([one]),
    await drawn([{ ...one, weight: 1 }]),
    await drawn([{ ...one, adapterId: second.adapterId }]),
    await drawn([one, { adapterId: second.adapterId }]),
  ];
  expect(pictures).not.toContain(undefined);
  expect(new Set(pictures).size).toBe(pictures.length);
  expect(await drawn([one])).toBe(pictures[1]);
});

test("a change to an alias or an adapter after admission does not change the picture", async () => {
  const { project, ctx, first, second, promote } = await setUp();
  const { jobId } = await jobs.submit(ctx, IMAGE, { input: input([{ alias: "hero" }]) });
  await promote(second.adapterId, 2);
  await adapters.remove(ctx, first.adapterId);
  await pool.query("UPDATE model_adapter SET health_status = 'missing' WHERE id = $1", [first.adapterId]);
  expect(await finish(project, jobId)).toMatchObject({ status: "succeeded" });
  expect(await drawnWith(project, jobId)).toMatchObject([
    { adapterId: first.adapterId, displayName: "First", aliasVersionNumber: 1, weight: 0.7 },
  ]);
  expect(
    await refused(jobs.submit(ctx, IMAGE, { input: input([{ adapterId: first.adapterId }]) })),
  ).toMatchObject({
    issues: [{ loc: ["body", "input", "adapters", 0, "adapterId"], type: "not_found" }],
  });
});

test("adapters stay as admitted if a worker dies between admission and the call", async () => {
  const { project, ctx, first, second, promote } = await setUp();
  const { jobId } = await jobs.submit(ctx, IMAGE, { input: input([{ alias: "hero" }]) });
  await startJob(ctx, jobId);
  await promote(second.adapterId);
  await project.pass(60_000);
  await jobs.sweep(ctx, project);
  expect(await finish(project, jobId)).toMatchObject({ status: "succeeded" });
  expect(await drawnWith(project, jobId)).toMatchObject([
    { adapterId: first.adapterId, aliasVersionNumber: 1 },
  ]);
  expect((await rowsOf(jobId)).attempts).toHaveLength(1);
});

test("a replay returns the first job after an alias has moved, and a retry resolves the alias again", async () => {
  const { project, ctx, first, second, promote } = await setUp();
  const request = {
    input: input([{ alias: "hero" }]),
    preferredModel: "sandbox-refuse",
    idempotencyKey: "once",
  };
  const { jobId } = await jobs.submit(ctx, IMAGE, request);
  expect(await finish(project, jobId)).toMatchObject({ status: "failed" });
  expect(await drawnWith(project, jobId)).toMatchObject([{ adapterId: first.adapterId }]);
  await promote(second.adapterId);
  expect(await jobs.submit(ctx, IMAGE, request)).toMatchObject({ jobId });
  const again = await jobs.retry(ctx, jobId);
  await finish(project, again.jobId);
  expect(await drawnWith(project, again.jobId)).toMatchObject([
    { adapterId: second.adapterId, aliasVersionNumber: 2 },
  ]);
});

test("a quote is bound to the adapters that its aliases pointed to", async () => {
  const { ctx, first, second, promote } = await setUp();
  const request = { input: input([{ alias: "hero" }]) };
  const quoted = await quotes.quote(ctx, IMAGE, request);
  expect(quoted.basis).toMatchObject({ adapters: [{ adapterId: first.adapterId, weight: 0.7 }] });
  const submit = (quoteId: string | null, choices?: AdapterChoice[]) =>
    jobs.submit(ctx, IMAGE, { input: input(choices), quoteId });
  await submit(quoted.quoteId, [{ alias: "HERO" }]);
  for (const other of [
    [],
    [{ alias: "hero", weight: 1 }],
    [{ adapterId: first.adapterId, weight: 0.7 }],
    undefined,
  ])
    expect(await refused(submit(quoted.quoteId, other))).toMatchObject({
      code: "QUOTE_MISMATCH",
      details: { reason: "changed", fields: ["input.adapters"] },
    });
  await promote(first.adapterId, 0.7); // this makes no new version
  await submit(quoted.quoteId, [{ alias: "hero" }]);
  await promote(second.adapterId, 0.7);
  expect(await refused(submit(quoted.quoteId, [{ alias: "hero" }]))).toMatchObject({
    code: "QUOTE_MISMATCH",
    details: { reason: "changed", fields: ["input.adapters"] },
  });
  const bare = await quotes.quote(ctx, IMAGE, { input: input() });
  await adapters.setDefault(ctx, IMAGE, {}, { alias: "hero" });
  expect(await refused(submit(bare.quoteId))).toMatchObject({
    code: "QUOTE_MISMATCH",
    details: { fields: ["input.adapters"] },
  });
});

test("only routes that support every adapter are quoted, taken and named as alternatives", async () => {
  const { ctx, first } = await setUp();
  const named = input([{ adapterId: first.adapterId }]);
  const quoted = await quotes.quote(ctx, IMAGE, { input: named });
  expect(quoted.resolved).toMatchObject({ routeKey: "sandbox/sandbox-1" });
  expect(quoted.routingAlternatives?.map(({ routeKey }) => routeKey)).toEqual(["sandbox/sandbox-2"]);
  const plain = await quotes.quote(ctx, IMAGE, { input: { prompt } });
  expect(quoted.maximumAuthorizedCharge).toEqual(plain.maximumAuthorizedCharge); // adapters are free here
  const constraints: Record<string, string>[] = [
    { providerPin: "openai" },
    { preferredModel: "fal-ai/flux/dev" },
    { providerPin: "fal" },
  ];
  for (const constraint of constraints) {
    const refusal = await refused(jobs.submit(ctx, IMAGE, { input: named, ...constraint }));
    expect(refusal).toMatchObject({
      code: "ROUTE_UNAVAILABLE",
      details: { alternates: expect.arrayContaining(["sandbox/sandbox-1", "sandbox/sandbox-2"]) },
      message: expect.stringContaining('Only models that support the adapter "First" can run this.'),
    });
  }
  await jobs.submit(ctx, IMAGE, { input: named, preferredModel: "fal-ai/flux/dev", autoSelect: true });
});

test("a named route without support for the default adapter is refused with the adapter's name", async () => {
  const { ctx } = await setUp();
  await adapters.setDefault(ctx, IMAGE, {}, { alias: "hero" });
  const wanted = { providerPin: "openai" };
  expect(await refused(jobs.submit(ctx, IMAGE, { input: input(), ...wanted }))).toMatchObject({
    code: "ROUTE_UNAVAILABLE",
    message: expect.stringContaining(`The project's default is the adapter "Hero"`),
  });
  // Without the default adapter, only the account is missing.
  expect(await refused(jobs.submit(ctx, IMAGE, { input: input([]), ...wanted }))).toMatchObject({
    code: "CONNECTION_REQUIRED",
  });
});

test("a project without defaults makes no query about adapters except for its defaults", async () => {
  const { ctx } = await makeProject();
  const asked: string[] = [];
  const query = pool.query.bind(pool);
  Object.assign(pool, {
    query(first: string | { text: string }, ...rest: never[]) {
      asked.push(typeof first === "string" ? first : first.text);
      return (query as (...all: unknown[]) => unknown)(first, ...rest);
    },
  });
  try {
    await quotes.quote(ctx, IMAGE, { input: { prompt } });
  } finally {
    Object.assign(pool, { query });
  }
  const about = asked.filter((text) => /adapter/.test(text));
  expect(about).toEqual([
    "SELECT environment, capability_key, alias_id FROM adapter_default WHERE project_id = $1",
  ]);
});

test("each of a hundred pictures during ten promotions names a version that was current at its admission", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  const { project, ctx, first, second, promote } = await setUp();
  const seen: { jobId: string; before: number; after: number }[] = [];
  const current = async () => (await adapters.getAlias(ctx, "hero", {})).current.number;
  const one = async () => {
    const before = await current();
    const { jobId } = await jobs.submit(ctx, IMAGE, { input: input([{ alias: "hero" }]) });
    seen.push({ jobId, before, after: await current() });
  };
  const lane = async () => {
    for (let turn = 0; turn < 10; turn++) await one();
  };
  const promotions = async () => {
    for (let turn = 1; turn <= 10; turn++) {
      while (seen.length < turn * 8) await one();
      await promote((turn % 2 ? second : first).adapterId);
    }
  };
  await Promise.all([...Array.from({ length: 10 }, lane), promotions()]);
  expect(await current()).toBe(11);
  const versions = await adapters.aliasVersions(ctx, "hero", { limit: 200 });
  const used = new Set<number>();
  for (const [place, { jobId, before, after }] of seen.entries()) {
    if (place % 20 === 0) await finish(project, jobId);
    else await jobs.cancel(ctx, jobId);
    const [one] = await drawnWith(project, jobId);
    expect(one.aliasVersionNumber).toBeGreaterThanOrEqual(before);
    expect(one.aliasVersionNumber).toBeLessThanOrEqual(after);
    const version = versions.items.find(({ versionId }) => versionId === one.aliasVersionId);
    expect(version).toMatchObject({ number: one.aliasVersionNumber, target: { adapterId: one.adapterId } });
    used.add(one.aliasVersionNumber);
  }
  expect(seen.length).toBeGreaterThanOrEqual(100);
  expect(used.size).toBeGreaterThan(5);
});
