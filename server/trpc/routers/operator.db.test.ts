import { expect, test, vi } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import { grantOperator } from "@/server/domain/organizations";
import { decideTestPayment } from "@/server/domain/payments";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { appRouter } from "../index";

const need = {
  summary: "Read drawings",
  need: "Every dimension with its unit.",
  acceptanceCases: [{ input: 1 }],
};

async function makeOperator(address = "192.0.2.1") {
  const { organizationId } = await makeTenant();
  const { ctx, email } = await makePerson(organizationId, "owner");
  await grantOperator(system, { email });
  const { principal } = ctx;
  if (principal.kind !== "human_session") throw new Error("a person is a human session");
  const own: Ctx = { ...ctx, address, principal: { ...principal, isOperator: true } };
  return { email, ctx: own, panel: appRouter.createCaller(own).operator };
}

/** A submitted request of its own customer. */
async function makeRequest() {
  const tenant = await makeTenant();
  const member = await makePerson(tenant.organizationId, "member");
  const { id } = await requests.create(member.ctx, {
    schemaVersion: "service.capability-request.v1",
    ...need,
    projectId: tenant.projectId,
  });
  const { currentRevisionId } = await requests.submit(member.ctx, id);
  return { ...tenant, member, requestId: id, revisionId: currentRevisionId };
}

const quoteOf = ({ requestId, revisionId }: { requestId: string; revisionId: string }) => ({
  requestId,
  revisionId,
  priceMicros: 1_250_000_000,
  currency: "USD" as const,
  runtimePricing: {
    mode: "metered" as const,
    billingCurrency: "USD" as const,
    display: "about $0.02 a page",
    startingAtMicros: 20_000,
  },
  targetBusinessDays: 10,
  note: "We begin at once.",
});

test("only an operator can call the console's procedures, and a refused call changes nothing", async () => {
  const made = await makeRequest();
  const owner = await makePerson(made.organizationId, "owner");
  const panel = appRouter.createCaller(owner.ctx).operator;
  const { requestId } = made;
  const feedback = { requestId, message: "No." };
  const asked: Record<string, () => Promise<unknown>> = {
    queue: () => panel.queue({}),
    counts: () => panel.counts(),
    request: () => panel.request({ request_id: requestId }),
    revision: () => panel.revision({ requestId, revisionId: made.revisionId }),
    audit: () => panel.audit({ request_id: requestId }),
    openForReview: () => panel.openForReview({ request_id: requestId }),
    askForInformation: () => panel.askForInformation(feedback),
    decline: () => panel.decline(feedback),
    issueQuote: () => panel.issueQuote(quoteOf(made)),
    refund: () => panel.refund({ requestId, reason: "No." }),
    retryRefund: () => panel.retryRefund({ paymentId: "pay_1", refundId: "rfd_1" }),
    plans: () => panel.plans({}),
    offered: () => panel.offered(),
    changePlan: () => panel.changePlan({ organizationId: made.organizationId, plan: "self-hosted" }),
    fulfil: () => panel.fulfil({ requestId, capabilityKey: "compute.evaluate.v1" }),
  };
  const procedures = Object.keys(appRouter._def.procedures).filter((path) => path.startsWith("operator."));
  expect(procedures.map((path) => path.slice("operator.".length)).sort()).toEqual(Object.keys(asked).sort());
  for (const [name, ask] of Object.entries(asked))
    await expect(ask(), name).rejects.toMatchObject({
      code: "FORBIDDEN",
      cause: { code: "AuthorizationFailed" },
    });
  expect((await requests.get(made.member.ctx, requestId)).status).toBe("submitted");
});

test("a request goes from the queue to a quote, and each step offers only what is possible", async () => {
  const made = await makeRequest();
  const { panel } = await makeOperator();
  const { requestId } = made;
  const acts = async () => (await panel.request({ request_id: requestId })).acts;
  expect(await acts()).toEqual(["review"]);
  await panel.openForReview({ request_id: requestId });
  expect(await acts()).toEqual(["ask", "decline", "quote"]);
  await panel.askForInformation({ requestId, message: "Which units?" });
  expect(await acts()).toEqual([]);
  const revised = await requests.revise(made.member.ctx, requestId, {
    schemaVersion: null,
    ...need,
    need: "In millimetres.",
  });
  await requests.submit(made.member.ctx, requestId);
  await panel.openForReview({ request_id: requestId });
  await expect(panel.issueQuote(quoteOf(made))).rejects.toMatchObject({
    code: "CONFLICT",
    message: "The request was revised in the meantime. Read it again before you quote.",
  });
  await panel.issueQuote(quoteOf({ requestId, revisionId: revised.currentRevisionId }));
  const quoted = await panel.request({ request_id: requestId });
  expect(quoted).toMatchObject({
    acts: [],
    request: { status: "quoted" },
    organizationName: "Test",
    projectName: "Test",
    author: made.member.email,
    revisions: [
      { number: 2, author: made.member.email },
      { number: 1, author: made.member.email },
    ],
    quotes: [{ status: "active", note: "We begin at once." }],
  });
  expect(quoted.revisions[0]).not.toHaveProperty("content");
  const first = await panel.revision({ requestId, revisionId: made.revisionId });
  expect(first.content).toMatchObject(need);
});

test("after a quote has expired, the operator may quote again", async () => {
  const made = await makeRequest();
  const { ctx, panel } = await makeOperator();
  await panel.openForReview({ request_id: made.requestId });
  await panel.issueQuote(quoteOf(made));
  const later: Ctx = { ...ctx, now: () => new Date(Date.now() + 15 * DAY_MS) };
  const expired = await requests.dossier(later, made.requestId);
  expect(expired).toMatchObject({ acts: ["quote"], quotes: [{ status: "expired" }] });
});

test("a paid request is delivered, refunded within the acceptance window, and not refunded twice", async () => {
  const made = await makeRequest();
  const { requestId } = made;
  const { ctx, panel } = await makeOperator();
  await panel.openForReview({ request_id: requestId });
  const { quoteId } = await panel.issueQuote(quoteOf(made));
  const { paymentId } = await requests.startCommissionCheckout(made.member.ctx, quoteId);
  await decideTestPayment(made.member.ctx, paymentId, "pay");
  const paid = await panel.request({ request_id: requestId });
  expect(paid.acts).toEqual(["fulfil", "refund"]);
  expect(paid.quotes).toMatchObject([{ status: "paid", payments: [{ state: "paid", refund: null }] }]);

  await panel.fulfil({ requestId, capabilityKey: "compute.evaluate.v1" });
  const shipped = await panel.request({ request_id: requestId });
  expect(shipped).toMatchObject({ acts: ["refund"], acceptedUntil: expect.any(String) });
  const later: Ctx = { ...ctx, now: () => new Date(Date.parse(shipped.acceptedUntil ?? "") + 1) };
  expect((await requests.dossier(later, requestId)).acts).toEqual([]);
  await expect(requests.refund(later, { requestId, reason: "Late." })).rejects.toMatchObject({
    code: "RequestStateConflict",
  });

  const asked = { requestId, reason: "It does not do the work." };
  const [once, twice] = await Promise.all([panel.refund(asked), panel.refund(asked)]);
  expect(once.refundId).toBe(twice.refundId);
  const going = await panel.request({ request_id: requestId });
  expect(going.acts).toEqual([]);
  expect(going.quotes[0]?.payments).toMatchObject([
    { refund: { reason: "operator" }, refundNote: asked.reason, refundError: null },
  ]);
  const { items } = await panel.audit({ request_id: requestId });
  expect(items.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["payment.refund_due", "capability_request.fulfilled", "capability_request.paid"]),
  );
});

test("the audit log of a request shows its actions with actor and address to operators", async () => {
  const made = await makeRequest();
  const operator = await makeOperator("198.51.100.7");
  await operator.panel.openForReview({ request_id: made.requestId });
  await operator.panel.decline({ requestId: made.requestId, message: "Outside of what we do." });
  const { items } = await operator.panel.audit({ request_id: made.requestId });
  expect(items.map(({ action, actor, address }) => [action, actor, address])).toEqual([
    ["capability_request.declined", operator.email, "198.51.100.7"],
    ["capability_request.in_review", operator.email, "198.51.100.7"],
    ["capability_request.submitted", made.member.email, null],
    ["capability_request.created", made.member.email, null],
  ]);
});

test("the queue has requests of every organization by status, oldest or newest first, and counts them", async () => {
  const { panel } = await makeOperator();
  const before = await panel.counts();
  const [one, two] = [await makeRequest(), await makeRequest()];
  const counts = await panel.counts();
  expect(counts.submitted).toBeGreaterThanOrEqual(before.submitted + 2);
  const newest = await panel.queue({ status: "submitted", limit: 100 });
  const at = (requestId: string) => newest.items.findIndex(({ id }) => id === requestId);
  expect(at(two.requestId)).toBeLessThan(at(one.requestId));
  expect(at(two.requestId)).toBeGreaterThanOrEqual(0);
  expect(newest.items[at(one.requestId)]).toMatchObject({
    summary: need.summary,
    organizationId: one.organizationId,
    organizationName: "Test",
    price: null,
  });
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await panel.queue({ status: "submitted", order: "oldest", limit: 1, cursor });
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor);
  expect(seen.indexOf(one.requestId)).toBeLessThan(seen.indexOf(two.requestId));
  expect(seen).toContain(one.requestId);
});

test("a revision of another request, and an unknown request, are not found", {
  tags: "long",
}, async () => {
  const [one, two] = [await makeRequest(), await makeRequest()];
  const { panel } = await makeOperator();
  const strange = panel.revision({ requestId: one.requestId, revisionId: two.revisionId });
  await expect(strange).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(panel.request({ request_id: "cr_00000000000000000000000000" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

test("the page of plans reads the use of all its organizations in at most two queries", async () => {
  const { panel } = await makeOperator();
  const [one, two] = [await makeTenant(), await makeTenant()];
  await makePerson(two.organizationId, "member");
  const newest = await makeTenant(); // organizations of other tests may be newer by a day
  const asked = vi.spyOn(pool, "query");
  const { items } = await panel.plans({ cursor: newest.organizationId });
  const statements = asked.mock.calls.length;
  asked.mockRestore();
  const usersOf = ({ organizationId }: { organizationId: string }) =>
    items.find((each) => each.organizationId === organizationId)?.used.users;
  expect([usersOf(one), usersOf(two)]).toEqual([0, 1]);
  expect(statements).toBeLessThanOrEqual(2);
});
