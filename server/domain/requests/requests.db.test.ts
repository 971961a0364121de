import { describe, expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS, DAY_SECONDS } from "@/server/platform/time/units";
import { OPEN_TERMS } from "@/testing/embeds";
import { fileNeed, NEED, needIn, operatorAt, priceOf } from "@/testing/needs";
import { ctxOf, makePerson, makeTenant } from "@/testing/tenants";
import { makeProject } from "@/testing/world";
import * as requests from ".";
import { body, makeClocked } from "./clocked.fixture";

const countOf = async (table: string, condition: string, value: string) =>
  Number((await pool.query(`SELECT count(*) AS n FROM ${table} WHERE ${condition}`, [value])).rows[0].n);

/** Files this many copies of a request, at this moment. */
async function fileCopies(id: string, count: number, at: Date) {
  const ids = Array.from({ length: count }, () => newId("capabilityRequest"));
  await pool.query(
    `INSERT INTO capability_request (id, organization_id, project_id, status, current_revision_id, created_by, created_by_kind,
       created_at, updated_at)
     SELECT copy, organization_id, project_id, status, current_revision_id, created_by, created_by_kind, $3, $3
     FROM capability_request, unnest($2::text[]) AS copy WHERE id = $1`,
    [id, ids, at],
  );
}

describe("create", () => {
  test("a project files a limited number a day; repeats of filed ones still get answers, and a day later it files again", async () => {
    const { ctx, projectId, set } = await makeClocked();
    const first = await requests.create(ctx, body({ idempotencyKey: "first" }));
    set(new Date(ctx.now().getTime() + 60_000));
    await fileCopies(first.id, 998, ctx.now());
    await requests.create(ctx, body());
    await expect(requests.create(ctx, body())).rejects.toMatchObject({
      code: "RateLimited",
      details: { retryAfterSeconds: DAY_SECONDS - 60 },
    });
    await expect(requests.create(ctx, body({ idempotencyKey: "new" }))).rejects.toMatchObject({
      code: "RateLimited",
    });
    expect((await requests.create(ctx, body({ idempotencyKey: "first" }))).id).toBe(first.id);
    expect(await countOf("capability_request", "project_id = $1", projectId)).toBe(1_000);
    const other = await makeClocked();
    await requests.create(other.ctx, body());
    set(new Date(ctx.now().getTime() + DAY_MS - 60_000));
    await requests.create(ctx, body());
    await expect(requests.create(ctx, body())).rejects.toMatchObject({ code: "RateLimited" });
  });

  test("create answers with a draft and its first revision", async () => {
    const { ctx, organizationId, projectId } = await makeProject();
    const made = await fileNeed(ctx, { acceptanceCases: [{ input: 1, expected: 2 }] });
    expect(made).toMatchObject({
      schemaVersion: "service.capability-request.v1",
      organizationId,
      projectId,
      status: "draft",
      feedback: null,
      quoteId: null,
      capabilityKey: null,
      submittedAt: null,
      fulfilledAt: null,
      createdBy: ctx.principal.id,
      revision: { number: 1, content: { acceptanceCases: [{ input: 1, expected: 2 }] } },
    });
    expect(made.id).toMatch(/^cr_/);
    expect(made.currentRevisionId).toMatch(/^crr_/);
    expect(made.revision).toMatchObject({ id: made.currentRevisionId, requestHash: made.requestHash });
    expect(await requests.get(ctx, made.id)).toEqual(made);
  });

  test("20 concurrent calls with one key make one request and one event, and another need under the key is refused", async () => {
    const { ctx, projectId } = await makeProject();
    const made = await Promise.all(
      Array.from({ length: 20 }, () => requests.create(ctx, body(), "the same")),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await countOf("capability_request", "project_id = $1", projectId)).toBe(1);
    expect(await countOf("capability_request_event", "request_id = $1", made[0]!.id)).toBe(1);
    await expect(requests.create(ctx, body({ own: 1 }), "the same")).rejects.toMatchObject({
      code: "IdempotencyConflict",
      details: { jobId: made[0]!.id },
    });
  });

  test("a repeated key returns the request's current state; without a key, each call is a new request", async () => {
    const { ctx } = await makeProject();
    const first = await requests.create(ctx, body({ idempotencyKey: "k" }));
    await requests.revise(ctx, first.id, body({ need: "Other words." }));
    await requests.submit(ctx, first.id);
    const again = await requests.create(ctx, body({ idempotencyKey: "k" }));
    expect(again).toEqual(await requests.get(ctx, first.id));
    expect(again).toMatchObject({ id: first.id, status: "submitted", revision: { number: 2 } });
    const [one, two] = [await fileNeed(ctx), await fileNeed(ctx)];
    expect(one.id).not.toBe(two.id);
    expect(one.requestHash).toBe(two.requestHash);
  });

  test("the same idempotency key in two projects files two requests", async () => {
    const [one, two] = [await makeProject(), await makeProject()];
    const made = [
      await requests.create(one.ctx, body(), "k"),
      await requests.create(two.ctx, body({ own: 1 }), "k"),
    ];
    expect(made[0]?.id).not.toBe(made[1]?.id);
  });
});

test("each revision stores the whole wording, even an unchanged one, and the last one is current", async () => {
  const { ctx } = await makeProject();
  const first = await fileNeed(ctx);
  const same = await requests.revise(ctx, first.id, body());
  expect(same.requestHash).toBe(first.requestHash);
  expect(same.currentRevisionId).not.toBe(first.currentRevisionId);
  const third = await requests.revise(ctx, first.id, body({ constraints: { maxLatencySeconds: 5 } }));
  expect(third).toMatchObject({ status: "draft", revision: { number: 3 } });
  const all = await requests.revisions(ctx, first.id);
  expect(all.map(({ number }) => number)).toEqual([3, 2, 1]);
  expect(all[2]).toEqual(first.revision);
});

test("20 concurrent submits make one event, and all return the same submission", async () => {
  const { ctx } = await makeProject();
  const { id } = await fileNeed(ctx);
  const answers = await Promise.all(Array.from({ length: 20 }, () => requests.submit(ctx, id)));
  expect(new Set(answers.map(({ status, submittedAt }) => `${status} ${submittedAt}`)).size).toBe(1);
  const types = (await requests.events(ctx, id)).map(({ type }) => type);
  expect(types).toEqual(["capability_request.created", "capability_request.submitted"]);
});

test("concurrent revisions are numbered without gaps, and the last written is the current one", async () => {
  const { ctx } = await makeProject();
  const { id } = await fileNeed(ctx);
  await Promise.all(Array.from({ length: 20 }, (_, own) => requests.revise(ctx, id, body({ own }))));
  const all = await requests.revisions(ctx, id);
  expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => 21 - n));
  expect((await requests.get(ctx, id)).currentRevisionId).toBe(all[0]?.id);
});

describe("review", () => {
  test("a request shows the operator's message until the operator writes another one", async () => {
    const { ctx } = await makeProject();
    const operator = operatorAt(ctx);
    const request = await needIn(ctx, "needs_information");
    expect(request.feedback).toEqual({
      kind: "needs_information",
      message: "Which stamps?",
      at: expect.any(String),
    });
    const answered = await requests.revise(ctx, request.id, body({ need: "Those of Europe." }));
    expect(answered.feedback).toEqual(request.feedback);
    await requests.submit(ctx, request.id);
    await requests.openForReview(operator, request.id);
    await requests.decline(operator, { requestId: request.id, message: "No one can." });
    expect(await requests.get(ctx, request.id)).toMatchObject({
      status: "declined",
      feedback: { kind: "declined", message: "No one can." },
    });
  });

  test("only an existing capability can be recorded as shipped; the error names the nearest ones", async () => {
    const { ctx } = await makeProject();
    const { id } = await needIn(ctx, "paid");
    const fulfil = (capabilityKey: string) =>
      requests.fulfil(operatorAt(ctx), { requestId: id, capabilityKey });
    for (const wrong of ["compute.evaluat.v1", "nothing", "__proto__", "compute.evaluate.v1 "]) {
      const refused = await fulfil(wrong).catch((error) => error);
      expect(refused.issues).toMatchObject([
        {
          loc: ["body", "capabilityKey"],
          type: "unknown_capability",
          ctx: { nearestMatches: expect.any(Array) },
        },
      ]);
    }
    const near = await fulfil("compute.evaluat.v1").catch((error) => error);
    expect(near.issues[0].ctx.nearestMatches[0]).toBe("compute.evaluate.v1");
    expect((await requests.get(ctx, id)).status).toBe("paid");
    const done = await fulfil("compute.evaluate.v1");
    expect(done).toMatchObject({ status: "fulfilled", capabilityKey: "compute.evaluate.v1" });
    expect(done.fulfilledAt).not.toBeNull();
  });

  test("the queue has the submitted requests of every organization, newest first, page by page", async () => {
    const [one, two] = [await makeProject(), await makeProject()];
    const [a, draft, b] = [
      await needIn(one.ctx, "submitted"),
      await needIn(one.ctx, "draft"),
      await needIn(two.ctx, "in_review"),
    ];
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await requests.queue(operatorAt(one.ctx), { limit: 2, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor && !seen.includes(a.id));
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    expect(seen).toEqual(expect.arrayContaining([a.id, b.id]));
    expect(seen).not.toContain(draft.id);
    const { items } = await requests.queue(operatorAt(one.ctx), { status: "draft", limit: 1 });
    expect(items).toMatchObject([
      {
        id: draft.id,
        organizationName: "Test",
        projectName: "Test",
        summary: NEED.summary,
        revisionNumber: 1,
      },
    ]);
  });

  test("only an operator reviews: no key of any scope, no member of any role, no embed session", async () => {
    const tenant = await makeTenant();
    const owner = await makePerson(tenant.organizationId, "owner");
    const request = await needIn(ctxOf({ ...ownKey(tenant) }), "in_review");
    const panel = ctxOf({
      kind: "panel_session",
      id: "ps_x",
      organizationId: tenant.organizationId,
      projectId: tenant.projectId,
      environment: "development",
      givenBy: "service_principal",
      origins: ["https://x.test"],
      userId: null,
      terms: OPEN_TERMS,
    });
    for (const ctx of [ctxOf(ownKey(tenant)), owner.ctx, panel]) {
      const message = { requestId: request.id, message: "x" };
      for (const act of [
        () => requests.queue(ctx, { limit: 1 }),
        () => requests.openForReview(ctx, request.id),
        () => requests.askForInformation(ctx, message),
        () => requests.decline(ctx, message),
        () => requests.issueQuote(ctx, priceOf(request)),
        () => requests.fulfil(ctx, { requestId: request.id, capabilityKey: "compute.evaluate.v1" }),
      ])
        await expect(act()).rejects.toMatchObject({ code: "AuthorizationFailed" });
    }
    expect((await requests.get(owner.ctx, request.id)).status).toBe("in_review");
  });
});

const ownKey = ({ organizationId, projectId, keyId }: Awaited<ReturnType<typeof makeTenant>>) =>
  ({
    kind: "service_principal",
    id: keyId,
    organizationId,
    projectId,
    environment: "development",
    scopes: new Set(SCOPES),
    userId: null,
  }) as const;

test("members file and change, viewers read, strangers find nothing, operators read everything", async () => {
  const tenant = await makeTenant();
  const [member, viewer] = [
    await makePerson(tenant.organizationId, "member"),
    await makePerson(tenant.organizationId, "viewer"),
  ];
  const stranger = await makePerson((await makeTenant()).organizationId, "owner");
  const { projectId } = tenant;
  const made = await requests.create(member.ctx, body({ projectId }));
  expect(made.createdBy).toBe(member.userId);
  await expect(requests.create(member.ctx, body())).rejects.toMatchObject({ code: "PROJECT_REQUIRED" });
  for (const { ctx } of [viewer, stranger])
    await expect(requests.create(ctx, body({ projectId }))).rejects.toMatchObject({
      code: "AuthorizationFailed",
    });

  expect(await requests.get(viewer.ctx, made.id)).toEqual(made);
  expect((await requests.list(viewer.ctx, { limit: 5 })).items.map(({ id }) => id)).toEqual([made.id]);
  const writes = (ctx: Ctx) => [
    () => requests.revise(ctx, made.id, body()),
    () => requests.submit(ctx, made.id),
  ];
  for (const write of writes(viewer.ctx))
    await expect(write()).rejects.toMatchObject({ code: "AuthorizationFailed" });
  for (const write of [
    ...writes(stranger.ctx),
    () => requests.get(stranger.ctx, made.id),
    () => requests.quote(stranger.ctx, made.id),
    () => requests.events(stranger.ctx, made.id),
    () => requests.revisions(stranger.ctx, made.id),
  ])
    await expect(write()).rejects.toMatchObject({ code: "NotFound" });
  expect((await requests.list(stranger.ctx, { limit: 5 })).items).toEqual([]);

  // An operator without a membership reads everything, and rewords nothing.
  const operator = ctxOf({
    kind: "human_session",
    id: stranger.userId,
    email: stranger.email,
    memberships: new Map(),
    isOperator: true,
  });
  expect(await requests.get(operator, made.id)).toEqual(made);
  for (const write of writes(operator)) await expect(write()).rejects.toMatchObject({ code: "NotFound" });

  // Customers do not see an operator's address, and strangers do not see each other's.
  await requests.submit(member.ctx, made.id);
  await requests.openForReview(operator, made.id);
  const names = async (ctx: Ctx) => (await requests.events(ctx, made.id)).map((event) => event.actorName);
  expect(await names(viewer.ctx)).toEqual([member.email, member.email, null]);
  expect(await names(operator)).toEqual([member.email, member.email, stranger.email]);
});
