import { describe, expect, test } from "vitest";
import { CapabilityRequestBody, CommissionQuote, IssueCommissionQuote } from "@/server/contract/requests";
import { pool } from "@/server/db";
import { type Ctx, SCOPES } from "@/server/domain/ctx";
import { publicUrl } from "@/server/env";
import { newId } from "@/server/ids";
import { fileNeed, forceMove, NEED, needIn, operatorAt, priceOf, quotedNeed } from "@/testing/needs";
import { OPEN_TERMS } from "@/testing/panels";
import { ctxOf, makePerson, makeTenant } from "@/testing/tenants";
import { makeProject } from "@/testing/world";
import * as requests from ".";

const DAY_MS = 86_400_000;
const body = (more: object = {}) => CapabilityRequestBody.parse({ ...NEED, ...more });
const countOf = async (table: string, condition: string, value: string) =>
  Number((await pool.query(`SELECT count(*) AS n FROM ${table} WHERE ${condition}`, [value])).rows[0].n);

/** So many turns of the database. */
async function pause(turns: number) {
  for (let turn = 0; turn < turns; turn++) await pool.query("SELECT 1");
}

/** A key of its own project whose clock stands where it is put. */
async function makeClocked() {
  const { ctx, ...project } = await makeProject();
  let at = Date.UTC(2026, 9, 1, 12);
  const clocked: Ctx = { ...ctx, now: () => new Date(at) };
  return { ...project, ctx: clocked, set: (date: Date) => (at = date.getTime()) };
}

/** As many requests as this one beside it, filed at this moment. */
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
  test("a project files so many a day; what it filed is answered on, and a day later it files again", async () => {
    const { ctx, projectId, set } = await makeClocked();
    const first = await requests.create(ctx, body({ idempotencyKey: "first" }));
    set(new Date(ctx.now().getTime() + 60_000));
    await fileCopies(first.id, 998, ctx.now());
    await requests.create(ctx, body());
    await expect(requests.create(ctx, body())).rejects.toMatchObject({
      code: "RateLimited",
      details: { retryAfterSeconds: 86_400 - 60 },
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

  test("answers a draft with its first revision", async () => {
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

  test("20 at once with one key are one request and one event, and another need under it is refused", async () => {
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

  test("a repeated key answers with the request as it is by now; without a key, each is a request", async () => {
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

  test("a key stands for itself in each project", async () => {
    const [one, two] = [await makeProject(), await makeProject()];
    const made = [
      await requests.create(one.ctx, body(), "k"),
      await requests.create(two.ctx, body({ own: 1 }), "k"),
    ];
    expect(made[0]?.id).not.toBe(made[1]?.id);
  });
});

test("a revision is the whole wording anew, the same one too, and the last of them counts", async () => {
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

test("20 submits at once are one event, and the people of the house are told once", async () => {
  const { ctx } = await makeProject();
  const { id } = await fileNeed(ctx);
  const answers = await Promise.all(Array.from({ length: 20 }, () => requests.submit(ctx, id)));
  expect(new Set(answers.map(({ status, submittedAt }) => `${status} ${submittedAt}`)).size).toBe(1);
  const types = (await requests.events(ctx, id)).map(({ type }) => type);
  expect(types).toEqual(["capability_request.created", "capability_request.submitted"]);
});

test("revisions at once are numbered without gaps, and the last written is the current one", async () => {
  const { ctx } = await makeProject();
  const { id } = await fileNeed(ctx);
  await Promise.all(Array.from({ length: 20 }, (_, own) => requests.revise(ctx, id, body({ own }))));
  const all = await requests.revisions(ctx, id);
  expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => 21 - n));
  expect((await requests.get(ctx, id)).currentRevisionId).toBe(all[0]?.id);
});

describe("a commission quote", () => {
  test("has every field of its contract, and is read the same by the customer", async () => {
    const { ctx, set } = await makeClocked();
    set(new Date("2026-10-01T12:00:00.000Z"));
    const { request, quote } = await quotedNeed(ctx, {
      currency: "CAD",
      runtimePricing: {
        mode: "hybrid",
        billingCurrency: "CAD",
        display: "CAD 0.03 a stamp",
        startingAtMicros: 30_000,
      },
      note: "With a test set of yours.",
    });
    expect(quote).toEqual({
      quoteId: expect.stringMatching(/^cq_[0-9a-z]{26}$/),
      quoteKind: "commission",
      notExecutionQuoteId: true,
      requestId: request.id,
      requestRevisionId: request.currentRevisionId,
      requestHash: request.requestHash,
      status: "active",
      commissionPrice: {
        amountMicros: 1_250_000_000,
        currency: "CAD",
        amountMinor: 125_000,
        display: "CAD 1250.00",
      },
      taxTreatment: "tax_calculated_at_checkout",
      runtimePricing: {
        mode: "hybrid",
        status: "projected",
        billingCurrency: "CAD",
        display: "CAD 0.03 a stamp",
        pricingVersion: "price_2026_08_1",
        pricingContext: "account",
        estimateRequired: false,
        estimateAvailable: false,
        quoteEndpoint: null,
        estimateEndpoint: null,
        quote: { supported: false, requirements: [] },
        pricingFactors: [],
        startingAt: { amountMicros: 30_000, currency: "CAD", amountMinor: 3, display: "CAD 0.03" },
        examples: [],
        requiresInput: true,
        authoritativeForExecution: false,
        billable: true,
      },
      delivery: { targetBusinessDays: 10 },
      guarantee: { kind: "full-satisfaction-refund", acceptanceWindowDays: 7 },
      note: "With a test set of yours.",
      issuedAt: "2026-10-01T12:00:00.000Z",
      expiresAt: "2026-10-15T12:00:00.000Z",
      approval: {
        humanRequired: true,
        approvalUrl: `${publicUrl}/approve/capability-quotes/${quote.quoteId}`,
      },
    });
    expect(CommissionQuote.parse(quote)).toEqual(quote);
    expect(await requests.quote(ctx, request.id)).toEqual(quote);
    expect(request).toMatchObject({ status: "quoted", quoteId: quote.quoteId });
  });

  test("can be read until 14 days have passed, to the millisecond; the request stays quoted", async () => {
    const { ctx, set } = await makeClocked();
    const { request, quote } = await quotedNeed(ctx);
    const end = Date.parse(quote.expiresAt);
    expect(end - Date.parse(quote.issuedAt)).toBe(14 * DAY_MS);
    set(new Date(end - 1));
    expect((await requests.quote(ctx, request.id)).status).toBe("active");
    set(new Date(end));
    await expect(requests.quote(ctx, request.id)).rejects.toMatchObject({
      code: "Gone",
      details: { quoteId: quote.quoteId, reason: "expired", expiresAt: quote.expiresAt },
    });
    expect((await requests.get(ctx, request.id)).status).toBe("quoted");
  });

  test("is issued anew once it has expired, and not before; the old one is superseded", async () => {
    const { ctx, set } = await makeClocked();
    const { request, quote } = await quotedNeed(ctx);
    const end = Date.parse(quote.expiresAt);
    set(new Date(end - 1));
    const issue = () => requests.issueQuote(operatorAt(ctx), priceOf(request, { priceMicros: 2_000_000 }));
    await expect(issue()).rejects.toMatchObject({
      code: "RequestStateConflict",
      details: { requestId: request.id, status: "quoted" },
    });
    set(new Date(end));
    const issued = await Promise.allSettled([issue(), issue(), issue()]);
    expect(issued.filter(({ status }) => status === "fulfilled").length).toBe(1);
    const fresh = await requests.quote(ctx, request.id);
    expect(fresh).toMatchObject({ status: "active", commissionPrice: { amountMicros: 2_000_000 } });
    const { rows } = await pool.query(
      "SELECT state FROM commission_quote WHERE request_id = $1 ORDER BY id",
      [request.id],
    );
    expect(rows).toEqual([{ state: "superseded" }, { state: "active" }]);
  });

  test("is superseded by a revision in the same transaction, and stays readable by nobody", async () => {
    const { ctx } = await makeProject();
    const { request, quote } = await quotedNeed(ctx);
    const revised = await requests.revise(ctx, request.id, body());
    expect(revised).toMatchObject({ status: "draft", quoteId: null, submittedAt: null });
    const { rows } = await pool.query(
      "SELECT quote.state, quote.xmin = request.xmin AS together FROM commission_quote quote JOIN capability_request request ON request.id = request_id WHERE quote.id = $1",
      [quote.quoteId],
    );
    expect(rows).toEqual([{ state: "superseded", together: true }]);
    await expect(requests.quote(ctx, request.id)).rejects.toMatchObject({
      code: "Gone",
      details: { quoteId: quote.quoteId, reason: "superseded", expiresAt: quote.expiresAt },
    });
  });

  test("is for the wording that was read: another one by now is a conflict", async () => {
    const { ctx } = await makeProject();
    const old = await fileNeed(ctx);
    const request = await requests.revise(ctx, old.id, body({ need: "Other words." }));
    await requests.submit(ctx, request.id);
    await requests.openForReview(operatorAt(ctx), request.id);
    await expect(requests.issueQuote(operatorAt(ctx), priceOf(old))).rejects.toMatchObject({
      code: "RequestStateConflict",
      details: { requestId: old.id, status: "in_review" },
    });
    await expect(requests.quote(ctx, request.id)).rejects.toMatchObject({ code: "NotFound" });
    await requests.issueQuote(operatorAt(ctx), priceOf(request));
  });

  test("paid is read for good, also when its days are over, and its wording stands", async () => {
    const { ctx, set } = await makeClocked();
    const { request, quote } = await quotedNeed(ctx);
    await forceMove(operatorAt(ctx), request.id, "paid");
    set(new Date(Date.parse(quote.expiresAt) + 30 * DAY_MS));
    expect(await requests.quote(ctx, request.id)).toEqual({ ...quote, status: "paid" });
    await expect(requests.revise(ctx, request.id, body())).rejects.toMatchObject({
      code: "RequestStateConflict",
    });
    expect((await requests.revisions(ctx, request.id)).length).toBe(1);
  });

  test("issued and reworded at once, 30 times: nothing of an old wording can ever be paid", async () => {
    const { ctx, projectId } = await makeProject();
    const outcomes = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const request = await needIn(ctx, "in_review");
      const issue = () => requests.issueQuote(operatorAt(ctx), priceOf(request));
      const [issued, revised] = await Promise.allSettled([
        pause(round % 6).then(issue),
        requests.revise(ctx, request.id, body({ round })),
      ]);
      expect(revised.status).toBe("fulfilled");
      if (issued.status === "rejected") expect(issued.reason).toMatchObject({ code: "RequestStateConflict" });
      outcomes.add(issued.status);
      expect((await requests.get(ctx, request.id)).status).toBe("draft");
    }
    const { rows } = await pool.query(
      "SELECT count(*) AS n FROM commission_quote WHERE project_id = $1 AND state = 'active'",
      [projectId],
    );
    expect(rows[0].n).toBe(0);
    expect(outcomes.size).toBe(2);
  });
});

test.each<[string, unknown, string]>([
  ["priceMicros", 1_000_001, "a whole number of cents"],
  ["priceMicros", 990_000, "less than one"],
  ["priceMicros", 1_250.5, "no integer"],
  ["priceMicros", "1250000000", "a text"],
  ["currency", "EUR", "another currency"],
  ["targetBusinessDays", 0, "no day"],
  ["targetBusinessDays", 251, "more than a year"],
  ["revisionId", undefined, "not there"],
  ["approval", { humanRequired: false }, "not an operator's to say"],
  ["expiresAt", "2099-01-01T00:00:00.000Z", "not an operator's to say"],
  ["runtimePricing", { mode: "zero", billingCurrency: "USD", display: "x" }, "no mode"],
  [
    "runtimePricing",
    { mode: "free", billingCurrency: "USD", display: "x", startingAtMicros: 1 },
    "free at a price",
  ],
  ["runtimePricing", { mode: "fixed", billingCurrency: "USD", display: " " }, "blank"],
])("a quote cannot be issued with a %s of %j: %s", async (field, value) => {
  const { ctx } = await makeProject();
  const good = priceOf(await fileNeed(ctx));
  const parsed = IssueCommissionQuote.safeParse({ ...good, [field]: value });
  expect(parsed.success).toBe(false);
  const { path, code } = parsed.error!.issues[0]!;
  expect(code === "unrecognized_keys" ? field : path[0]).toBe(field);
});

describe("review", () => {
  test("what an operator says is read with the request, until they say something else", async () => {
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
    await requests.decline(operator, { requestId: request.id, message: "Nobody can." });
    expect(await requests.get(ctx, request.id)).toMatchObject({
      status: "declined",
      feedback: { kind: "declined", message: "Nobody can." },
    });
  });

  test("only a capability that is there can be recorded as shipped; the nearest are named", async () => {
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

  test("the queue holds what every organization has submitted, newest first, page by page", async () => {
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

  test("nobody but an operator reviews: no key of any scope, no member of any role, no panel", async () => {
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

test("people: members file and change, viewers read, strangers find nothing, operators read everything", async () => {
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

  // An operator who belongs to nobody reads everything, and rewords nothing.
  const operator = ctxOf({
    kind: "human_session",
    id: stranger.userId,
    email: stranger.email,
    memberships: new Map(),
    isOperator: true,
  });
  expect(await requests.get(operator, made.id)).toEqual(made);
  for (const write of writes(operator)) await expect(write()).rejects.toMatchObject({ code: "NotFound" });

  // Customers are not told the address of an operator, nor strangers each other's.
  await requests.submit(member.ctx, made.id);
  await requests.openForReview(operator, made.id);
  const names = async (ctx: Ctx) => (await requests.events(ctx, made.id)).map((event) => event.actorName);
  expect(await names(viewer.ctx)).toEqual([member.email, member.email, null]);
  expect(await names(operator)).toEqual([member.email, member.email, stranger.email]);
});
