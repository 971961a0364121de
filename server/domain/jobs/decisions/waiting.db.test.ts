import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";

const QUESTION = { messages: [{ role: "user", content: "What is a capstan?" }] };
const TEXT = "text.general.fast.v1";

async function makeGuarded(settings: object = {}): Promise<TestProject> {
  const project = await makeProject();
  await pool.query("UPDATE project SET approval_threshold_micros = 0, settings = $2 WHERE id = $1", [
    project.projectId,
    JSON.stringify(settings),
  ]);
  return project;
}

const submit = ({ ctx }: TestProject) => jobs.submit(ctx, TEXT, { input: QUESTION });

test("the waiting jobs of a project are listed by deadline, with their costs and submitters", async () => {
  const project = await makeGuarded();
  const member = await makePerson(project.organizationId, "member");
  const first = await submit(project);
  project.clock.advance(60_000);
  const person = await jobs.submit({ ...member.ctx, now: project.clock.now }, TEXT, {
    context: { projectId: project.projectId },
    input: QUESTION,
  });
  await submit(await makeGuarded()); // waits in another project
  const waiting = await jobs.listWaiting(member.ctx, project.projectId);
  expect(waiting.count).toBe(2);
  expect(waiting.items.map(({ jobId }) => jobId)).toEqual([first.jobId, person.jobId]);
  expect(waiting.items[0]).toMatchObject({
    kind: "job",
    capabilityKey: TEXT,
    askedBy: { kind: "service_principal", id: project.ctx.principal.id, name: null },
    approval: {
      estimatedCost: expect.any(Number),
      maximumCost: expect.any(Number),
      deadlineAt: expect.any(String),
    },
    rights: { approve: true, reject: true, whyNotDecide: null },
  });
  expect(waiting.items[1]?.askedBy).toEqual({
    id: member.userId,
    kind: "human_session",
    name: member.email,
  });

  await jobs.approve(member.ctx, first.jobId);
  expect((await jobs.listWaiting(member.ctx, project.projectId)).items.map(({ jobId }) => jobId)).toEqual([
    person.jobId,
  ]);
  expect(await jobs.countWaiting(member.ctx, project.projectId)).toBe(1);
});

test("a viewer sees a waiting job without the right to decide, and a submitter may not decide if a second person must", async () => {
  const project = await makeGuarded({ requireDifferentApprover: true });
  const [asker, viewer] = [
    await makePerson(project.organizationId, "member"),
    await makePerson(project.organizationId, "viewer"),
  ];
  await jobs.submit(asker.ctx, TEXT, { context: { projectId: project.projectId }, input: QUESTION });
  const seen = async (ctx: TestProject["ctx"]) =>
    (await jobs.listWaiting(ctx, project.projectId)).items[0]?.rights;
  expect(await seen(viewer.ctx)).toMatchObject({ approve: false, reject: false });
  expect(await seen(asker.ctx)).toMatchObject({
    approve: false,
    whyNotDecide: expect.stringContaining("someone else must decide"),
  });
});

test("another organization's project and an unknown one are the same NotFound", async () => {
  const project = await makeGuarded();
  const stranger = await makePerson((await makeProject()).organizationId, "owner");
  for (const projectId of [project.projectId, newId("project")]) {
    await expect(jobs.listWaiting(stranger.ctx, projectId)).rejects.toMatchObject({ code: "NotFound" });
    await expect(jobs.countWaiting(stranger.ctx, projectId)).rejects.toMatchObject({ code: "NotFound" });
  }
});
