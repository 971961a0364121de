import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { makeTenant } from "@/testing/api";
import { COMPARED, COMPARISONS, compared, pinned } from "@/testing/comparisons";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject } from "@/testing/world";
import { appRouter } from "../index";

test("the list is filtered by status, capability and judgement", {
  tags: "long",
}, async () => {
  const tenant = await makeTenant();
  const { ctx } = await makePerson(tenant.organizationId, "viewer");
  const { comparisons } = appRouter.createCaller(ctx);
  const of = (...models: string[]) => ({ ...COMPARED, competitors: pinned(...models) });
  const { json: running } = await tenant.post(COMPARISONS, COMPARED);
  const done = await compared(tenant, false);
  const judged = await compared(tenant, true);
  const partial = await compared(tenant, false, of("1", "refuse"));
  const failed = await compared(tenant, false, of("refuse", "fail"));
  const listed = async (filter: object) => {
    const { items } = await comparisons.list({ project_id: tenant.projectId, ...filter });
    return items.map(({ comparisonId }) => comparisonId);
  };
  expect(await listed({})).toEqual(
    [failed, partial, judged, done, running].map(({ comparisonId }) => comparisonId),
  );
  expect(await listed({ status: "running" })).toEqual([running.comparisonId]);
  expect(await listed({ status: "completed" })).toEqual([judged.comparisonId, done.comparisonId]);
  expect(await listed({ status: "partial" })).toEqual([partial.comparisonId]);
  expect(await listed({ status: "failed" })).toEqual([failed.comparisonId]);
  expect(await listed({ status: "completed", judged: false })).toEqual([done.comparisonId]);
  expect(await listed({ judged: true })).toEqual([judged.comparisonId]);
  expect(await listed({ judged: false, cursor: partial.comparisonId })).toEqual([
    done.comparisonId,
    running.comparisonId,
  ]);
  expect(await listed({ capabilityKey: "image.generate.v1" })).toEqual([]);
});

test("private content of entries stays on the server until a reader requests it", async () => {
  const tenant = await makeTenant();
  const { ctx } = await makePerson(tenant.organizationId, "viewer");
  const { comparisons } = appRouter.createCaller(ctx);
  const { comparisonId } = await compared(tenant, false, {
    ...COMPARED,
    context: { dataClassification: "PrivateUserContent" },
  });
  const which = { comparison_id: comparisonId };
  const whole = await comparisons.content(which);
  const said = whole.entries.map(({ typedOutput }) => (typedOutput as { content: string }).content); // the output of a text model
  expect(said.every((words) => words.length > 0)).toBe(true);
  const shown = await comparisons.get(which);
  expect(shown).toMatchObject({ isPrivate: true, judgedByName: null });
  for (const words of said) expect(JSON.stringify(shown)).not.toContain(words);
});

test("the judge is shown by name, and a viewer cannot judge", async () => {
  const tenant = await makeTenant();
  const [viewer, member] = await Promise.all(
    (["viewer", "member"] as const).map((role) => makePerson(tenant.organizationId, role)),
  );
  const { comparisonId, winner } = await compared(tenant, false);
  const judge = { comparison_id: comparisonId, ...winner, decision: "winner" as const };
  const asViewer = appRouter.createCaller(viewer!.ctx).comparisons;
  await expect(asViewer.judge(judge)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect((await asViewer.get({ comparison_id: comparisonId })).judgement).toBeNull();
  await appRouter.createCaller(member!.ctx).comparisons.judge(judge);
  const shown = await asViewer.get({ comparison_id: comparisonId });
  expect(shown.judgedByName).toContain("@");
  expect(shown).toMatchObject({ isPrivate: false, nextAction: "stop", judgement: { decision: "winner" } });
});

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "Why is the sea salty?" }] };
const competitors = ["1", "2"].map((model) => ({
  axis: "provider" as const,
  providerPin: `sandbox/sandbox-${model}`,
}));

test("a member compares, prices and judges in the project of the page, and a viewer reads", async () => {
  const project = await makeProject();
  const elsewhere = await makeProject();
  const panelOf = async (role: "member" | "viewer") => {
    const { ctx } = await makePerson(project.organizationId, role);
    return appRouter.createCaller({ ...ctx, now: project.clock.now }).comparisons;
  };
  const [member, viewer] = [await panelOf("member"), await panelOf("viewer")];
  const place = { capability_key: TEXT, project_id: project.projectId };
  const options = await member.options(place);
  expect(options.defaultCompetitors).toEqual([{ axis: "provider", providerPin: "sandbox-text" }]);
  const { total } = await member.estimate({ ...place, body: { competitors, input } });
  // The project of the page is used, whatever the body says.
  const body = { context: { projectId: elsewhere.projectId }, competitors, input };
  const made = await member.create({ ...place, body });
  expect(made).toMatchObject({ projectId: project.projectId, maximumCost: total.maximumCost });
  const { comparisonId } = made;
  for (const { jobId } of made.entries) await jobs.run(project.ctx, jobId, inlineStep(project.clock));

  const asked = { comparison_id: comparisonId };
  expect(await viewer.get(asked)).toMatchObject({ status: "completed", judgement: null });
  const page = { project_id: project.projectId, limit: 5 };
  expect((await viewer.list(page)).items).toMatchObject([{ comparisonId, decision: null }]);
  await expect(viewer.create({ ...place, body })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(viewer.judge({ ...asked, decision: "tie" })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  const judged = await member.judge({ ...asked, decision: "tie" });
  expect(judged.entries.map(({ model }) => model).sort()).toEqual(["sandbox-1", "sandbox-2"]);
  expect((await viewer.list(page)).items).toMatchObject([{ comparisonId, decision: "tie" }]);
});
