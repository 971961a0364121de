import { expect, test } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { NEED, operatorAt, quotedNeed } from "@/testing/needs";
import { makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";
import { appRouter } from "../index";

const panelOf = (ctx: Ctx) => appRouter.createCaller(ctx);

/** A person of the project, with the project's clock. */
async function personOf(
  { organizationId, clock }: Pick<TestProject, "organizationId" | "clock">,
  role: "owner" | "member" | "viewer",
) {
  const person = await makePerson(organizationId, role);
  const ctx: Ctx = { ...person.ctx, now: clock.now };
  return { ...person, ctx, panel: panelOf(ctx) };
}

test("a member writes, rewords and submits a request, and a viewer only reads it", async () => {
  const project = await makeProject();
  const [member, viewer] = [await personOf(project, "member"), await personOf(project, "viewer")];
  const filed = await member.panel.requests.create({ ...NEED, projectId: project.projectId });
  const asked = { request_id: filed.id };
  const revised = await member.panel.requests.revise({ ...asked, body: { ...NEED, need: "All stamps." } });
  expect(revised.revision).toMatchObject({ number: 2, content: { need: "All stamps." } });
  expect(await member.panel.requests.submit(asked)).toMatchObject({ status: "submitted" });

  expect(await viewer.panel.requests.get(asked)).toMatchObject({ status: "submitted" });
  expect(await viewer.panel.requests.revisions(asked)).toHaveLength(2);
  expect((await viewer.panel.requests.events(asked)).map(({ type }) => type)).toEqual([
    "capability_request.created",
    "capability_request.revised",
    "capability_request.submitted",
  ]);
  for (const act of [
    () => viewer.panel.requests.create({ ...NEED, projectId: project.projectId }),
    () => viewer.panel.requests.revise({ ...asked, body: NEED }),
    () => viewer.panel.requests.submit(asked),
  ])
    await expect(act()).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("another tenant's request, quote or project and a missing one are refused alike", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { request, quote } = await quotedNeed(project.ctx);
  const stranger = await personOf(await makeProject(), "owner");
  const refusals = async (requestId: string, quoteId: string, projectId: string) => {
    const { requests: ask, approvals } = stranger.panel;
    const tried = await Promise.allSettled([
      ask.get({ request_id: requestId }),
      ask.events({ request_id: requestId }),
      ask.revisions({ request_id: requestId }),
      ask.submit({ request_id: requestId }),
      ask.revise({ request_id: requestId, body: NEED }),
      ask.commission({ quoteId }),
      ask.pay({ quoteId }),
      ask.list({ project_id: projectId }),
      approvals.list({ project_id: projectId }),
      approvals.count({ project_id: projectId }),
    ]);
    return tried.map((answer) => (answer.status === "rejected" ? answer.reason.message : answer.value));
  };
  const theirs = await refusals(request.id, quote.quoteId, project.projectId);
  expect(theirs).toEqual(
    await refusals(newId("capabilityRequest"), newId("commissionQuote"), newId("project")),
  );
  expect(theirs.every((message) => typeof message === "string")).toBe(true);
});

test("the list has the price of each request, and is filtered by state and paged", async () => {
  const project = await makeProject();
  const viewer = await personOf(project, "viewer");
  const drafts: string[] = [];
  for (const summary of ["one", "two"])
    drafts.push((await requests.create(project.ctx, { ...NEED, schemaVersion: null, summary })).id);
  const { request, quote } = await quotedNeed(project.ctx);
  const project_id = project.projectId;
  const first = await viewer.panel.requests.list({ project_id, limit: 2 });
  expect(first.items.map(({ id }) => id)).toEqual([request.id, drafts[1]]);
  expect(first.items[0]).toMatchObject({
    status: "quoted",
    price: quote.commissionPrice,
    quoteExpiresAt: quote.expiresAt,
  });
  expect(first.items[1]).toMatchObject({ summary: "two", price: null, quoteExpiresAt: null });
  const rest = await viewer.panel.requests.list({ project_id, limit: 2, cursor: first.nextCursor });
  expect(rest.items.map(({ id }) => id)).toEqual([drafts[0]]);
  expect(rest.nextCursor).toBeUndefined();
  const quoted = await viewer.panel.requests.list({ project_id, status: "quoted" });
  expect(quoted.items.map(({ id }) => id)).toEqual([request.id]);
});

test("a member of the organization and an operator may pay a quote, and a viewer only sees it", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { quote } = await quotedNeed(project.ctx);
  const asked = { quoteId: quote.quoteId };
  const [member, viewer] = [await personOf(project, "member"), await personOf(project, "viewer")];
  const outsider = await personOf(await makeProject(), "member");
  const { principal } = outsider.ctx;
  if (principal.kind !== "human_session") throw new Error("a person is signed in");
  const operator = panelOf({ ...outsider.ctx, principal: { ...principal, isOperator: true } });

  expect(await viewer.panel.requests.commission(asked)).toMatchObject({ mayPay: false, isMember: true });
  await expect(viewer.panel.requests.pay(asked)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await member.panel.requests.commission(asked)).toMatchObject({ mayPay: true, isMember: true });
  expect(await operator.requests.commission(asked)).toMatchObject({ mayPay: true, isMember: false });
  const [one, again, theirs] = [
    await member.panel.requests.pay(asked),
    await member.panel.requests.pay(asked),
    await operator.requests.pay(asked),
  ];
  expect(again).toEqual(one);
  expect(theirs).toEqual(one);
});

test("a key and the system cannot pay through the panel, whatever else they may do", async () => {
  const project = await makeProject();
  const { quote } = await quotedNeed(project.ctx);
  for (const ctx of [project.ctx, operatorAt(project.ctx)]) {
    await expect(panelOf(ctx).requests.pay({ quoteId: quote.quoteId })).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
  }
});

test("jobs and commissions wait in one list, earliest deadline first, and are counted", async () => {
  const project = await makeProject();
  const member = await personOf(project, "member");
  const viewer = await personOf(project, "viewer");
  const project_id = project.projectId;
  expect(await member.panel.approvals.list({ project_id })).toMatchObject({ items: [], count: 0 });
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [project_id]);
  const { quote } = await quotedNeed(project.ctx); // expires after fourteen days
  const job = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "What is a capstan?" }] },
  }); // expires after seven days
  const { items, count, now } = await member.panel.approvals.list({ project_id });
  expect(now).toEqual(expect.any(String));
  expect(count).toBe(2);
  expect(items).toMatchObject([
    { kind: "job", jobId: job.jobId, rights: { approve: true } },
    {
      kind: "commission",
      summary: NEED.summary,
      mayPay: true,
      quote: { quoteId: quote.quoteId, commissionPrice: quote.commissionPrice },
      askedBy: { id: project.ctx.principal.id, kind: "service_principal" },
    },
  ]);
  expect((await viewer.panel.approvals.list({ project_id })).items).toMatchObject([
    { rights: { approve: false, reject: false } },
    { mayPay: false },
  ]);
  expect(await member.panel.approvals.count({ project_id })).toBe(2);

  await member.panel.jobs.reject({ job_id: job.jobId });
  project.clock.advance(14 * DAY_MS);
  // An item that can no longer be paid leaves the list.
  expect(await member.panel.approvals.list({ project_id })).toMatchObject({ items: [], count: 0 });
  expect(await member.panel.approvals.count({ project_id })).toBe(0);
});
