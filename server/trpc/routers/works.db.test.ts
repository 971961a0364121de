import { expect, test } from "vitest";
import type { JsonObject } from "@/server/contract/common";
import * as comparisons from "@/server/domain/comparisons";
import { ask, finished, pinned } from "@/server/domain/comparisons/comparisons.fixture";
import * as jobs from "@/server/domain/jobs";
import { compareDrawings } from "@/server/domain/jobs/reading/blind.fixture";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject } from "@/testing/world";
import { appRouter } from "../index";

const FAST = "text.general.fast.v1";
const words = (content: string) => ({ messages: [{ role: "user", content }] });

/** A project with a viewer's panel, and a function that reads the works of its list of jobs, newest first. */
async function makePanel() {
  const project = await makeProject();
  const { ctx } = await makePerson(project.organizationId, "viewer");
  const panel = appRouter.createCaller(ctx);
  const listed = async () => (await panel.jobs.list({ project_id: project.projectId })).items;
  const run = async (capability: string, body: JsonObject) => {
    const { jobId } = await jobs.submit(project.ctx, capability, body);
    await jobs.run(project.ctx, jobId, inlineStep(project.clock));
    return jobId;
  };
  return { ...project, panel, listed, run, works: async () => (await listed()).map(({ work }) => work) };
}

test("a job in the list has its prompt as subject and its image as picture, and the API's list has neither", {
  tags: "long",
}, async () => {
  const { ctx, projectId, run, works } = await makePanel();
  await run(FAST, { input: words("How deep is the sea?") });
  const drawn = await run("image.generate.v1", { input: { prompt: "A kite" } });
  const { artifacts } = await jobs.get(ctx, drawn);
  const picture = { jobId: drawn, artifactId: artifacts[0]?.artifactId };
  expect(await works()).toEqual([
    { capabilityKey: "image.generate.v1", subject: "A kite", isPrivate: false, picture },
    { capabilityKey: FAST, subject: "How deep is the sea?", isPrivate: false, picture: null },
  ]);
  const page = await jobs.history(ctx, projectId, { limit: 25 });
  expect(JSON.stringify(page)).not.toMatch(/sea|kite/);
});

test("short-term encrypted content gives a subject, and private content gives neither subject nor picture", async () => {
  const { run, works, listed } = await makePanel();
  await run(FAST, { input: words("In confidence"), context: { retentionRequirement: "EncryptedShortTerm" } });
  const context = { dataClassification: "PrivateUserContent" };
  await run("image.generate.v1", { input: { prompt: "My diary" }, context });
  expect(await works()).toEqual([
    { capabilityKey: "image.generate.v1", subject: null, isPrivate: true, picture: null },
    { capabilityKey: FAST, subject: "In confidence", isPrivate: false, picture: null },
  ]);
  expect(JSON.stringify(await listed())).not.toContain("diary");
});

test("reserved funds name the job that they are for", async () => {
  const { ctx, panel, projectId } = await makePanel();
  await jobs.submit(ctx, FAST, { input: words("How deep is the sea?") });
  const { items } = await panel.budgets.holds({ projectId });
  expect(items.map(({ work }) => work?.subject)).toEqual(["How deep is the sea?"]);
  expect(items[0]).not.toHaveProperty("jobId");
});

test("subject and picture disappear with the content that they come from", { tags: "long" }, async () => {
  const { ctx, clock, projectId, run, works } = await makePanel();
  await run("image.generate.v1", { input: { prompt: "A kite" } });
  await run(FAST, { input: words("Hashes"), context: { retentionRequirement: "HashesOnly" } });
  expect((await works()).map((work) => work?.subject)).toEqual([null, "A kite"]);
  clock.advance(31 * DAY_MS);
  await jobs.prune(ctx, { projectId });
  expect(await works()).toEqual([
    expect.objectContaining({ subject: null, picture: null }),
    expect.objectContaining({ subject: null, isPrivate: false, picture: null }),
  ]);
});

test("a job of another tenant has no work, even for a row that names it", async () => {
  const [own, foreign] = await Promise.all([makePanel(), makePanel()]);
  const jobId = await foreign.run(FAST, { input: words("Theirs") });
  const { ctx } = await makePerson(own.organizationId, "owner");
  expect(await jobs.works(ctx, [jobId])).toEqual(new Map());
  expect(await jobs.works(foreign.ctx, [jobId])).toEqual(
    new Map([[jobId, expect.objectContaining({ subject: "Theirs" })]]),
  );
});

test("competitors of an unjudged comparison show their common subject, and none if their subjects differ", async () => {
  const { works, ...project } = await makePanel();
  await compareDrawings(project);
  expect((await works()).map((work) => work?.subject)).toEqual(["A kite", "A kite"]);
  await compareDrawings(project, { varied: [{ prompt: "A kite, in oil" }, {}] });
  expect((await works()).slice(0, 2).map((work) => work?.subject)).toEqual([null, null]);
});

test("a comparison has its entries' request as subject, and only the winner's picture", {
  tags: "long",
}, async () => {
  const project = await makePanel();
  const { projectId, panel } = project;
  const works = async () =>
    (await panel.comparisons.list({ project_id: projectId })).items.map(({ work }) => work);
  const made = await ask(project, pinned("1", "2"), {
    capability: "image.generate.v1",
    input: { prompt: "A kite" },
  });
  const { comparisonId, entries } = await finished(project, made);
  const work = { capabilityKey: "image.generate.v1", subject: "A kite", isPrivate: false, picture: null };
  expect(await works()).toEqual([work]);
  const [, winner] = entries;
  await comparisons.judge(project.ctx, comparisonId, {
    decision: "winner",
    overallWinnerEntryId: winner?.entryId,
  });
  const picture = { jobId: winner?.jobId, artifactId: winner?.artifacts[0]?.artifactId };
  expect(await works()).toEqual([{ ...work, picture }]);
});

test("transactions and waiting jobs show the work of their jobs", async () => {
  const project = await makePanel();
  const { organizationId, projectId, panel } = project;
  const jobId = await project.run(FAST, { input: words("Paid words") });
  const { items } = await panel.billing.transactions({ organizationId });
  const charge = items.find((each) => each.jobId === jobId);
  expect(charge?.work).toMatchObject({ subject: "Paid words" });
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [projectId]);
  await jobs.submit(project.ctx, FAST, { input: words("May I?") });
  const waiting = await panel.approvals.list({ project_id: projectId });
  expect(waiting.items).toMatchObject([{ kind: "job", work: { subject: "May I?" } }]);
});
