import { afterEach, beforeEach, expect, test } from "vitest";
import * as webhooks from "@/server/domain/webhooks";
import { inTransaction, pool } from "@/server/platform/db";
import { makeQuote, makeRequest, moveRequest } from "@/testing/commissions";
import { startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import { lockRequest, recordRequestEvent } from "./transitions";

// Receivers of these tests are on this machine.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true });

const SECRET = "a secret of this test alone";
let project: TestProject;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeEach(async () => {
  [project, receiver] = await Promise.all([makeProject(), startReceiver()]);
});
afterEach(() => receiver.stop());

const listen = (eventTypes: string[] = []) =>
  webhooks.createEndpoint(project.ctx, {
    url: receiver.url,
    secret: SECRET,
    enabled: true,
    eventTypes,
  } as Parameters<typeof webhooks.createEndpoint>[1]); // this test passes event types as plain strings

async function received() {
  const { items } = await webhooks.deliveries(project.ctx, { limit: 200 });
  for (const { deliveryId, state } of items.toReversed())
    if (state === "pending") await webhooks.deliver(project.ctx, deliveryId, inlineStep(project.clock));
  return receiver.received.map(({ body, headers }) => ({
    ...JSON.parse(body),
    webhookId: headers["webhook-id"],
  }));
}

const feedback = (kind: "needs_information" | "declined" | "refunded", message: string) => ({
  feedback: { kind, message, at: project.clock.now().toISOString() },
});

test("each step of a request is reported by webhook, with the facts of the request and its quote", async () => {
  await listen();
  const request = await makeRequest(project);
  const { requestId, revisionId } = request;
  const at = (how: Parameters<typeof moveRequest>[2], change = {}) =>
    moveRequest(project.ctx, requestId, how, change);
  await at("submitted");
  await at("in_review");
  await at("needs_information", feedback("needs_information", "Which maps?"));
  await at("revised");
  await at("submitted");
  await at("in_review");
  const quoteId = await makeQuote(project, request);
  const quoted = await at("quoted");
  await inTransaction(async (client) =>
    recordRequestEvent(client, project.ctx, await lockRequest(client, quoted.id), {
      type: "capability_request.quote_expiring",
    }),
  );
  await pool.query("UPDATE commission_quote SET state = 'paid' WHERE id = $1", [quoteId]);
  await at("paid");
  await at("fulfilled", { capability_key: "map.read.v1", fulfilled_at: project.clock.now() });
  await at("refunded", feedback("refunded", "It reads no maps."));

  const events = await received();
  const ofRequest = { requestId, revisionId };
  const price = { amountMicros: 1_250_000_000, currency: "USD", amountMinor: 125_000, display: "$1250.00" };
  const { rows } = await pool.query("SELECT expires_at FROM commission_quote WHERE id = $1", [quoteId]);
  const ofQuote = { quoteId, price, targetBusinessDays: 10, expiresAt: rows[0].expires_at.toISOString() };
  expect(events.map(({ type, payload }) => [type.slice("capability_request.".length), payload])).toEqual([
    ["submitted", { ...ofRequest, status: "submitted" }],
    ["in_review", { ...ofRequest, status: "in_review" }],
    ["needs_information", { ...ofRequest, status: "needs_information", message: "Which maps?" }],
    ["revised", { ...ofRequest, status: "draft" }],
    ["submitted", { ...ofRequest, status: "submitted" }],
    ["in_review", { ...ofRequest, status: "in_review" }],
    ["quoted", { ...ofRequest, status: "quoted", ...ofQuote }],
    ["quote_expiring", { ...ofRequest, status: "quoted", ...ofQuote }],
    ["paid", { ...ofRequest, status: "paid", ...ofQuote }],
    ["fulfilled", { ...ofRequest, status: "fulfilled", ...ofQuote, capabilityKey: "map.read.v1" }],
    [
      "refunded",
      {
        ...ofRequest,
        status: "refunded",
        ...ofQuote,
        capabilityKey: "map.read.v1",
        message: "It reads no maps.",
      },
    ],
  ]);
  for (const event of events)
    expect(event).toMatchObject({
      id: event.webhookId,
      organizationId: project.organizationId,
      projectId: project.projectId,
    });
  expect(JSON.stringify(events)).not.toContain("A need no one else may read");
});

test("the webhook of a decline includes the operator's reason", async () => {
  await listen(["capability_request.declined"]);
  const { requestId } = await makeRequest(project);
  await moveRequest(project.ctx, requestId, "submitted");
  await moveRequest(project.ctx, requestId, "in_review");
  await moveRequest(project.ctx, requestId, "declined", feedback("declined", "It would break a law."));
  expect((await received()).map(({ type, payload }) => [type, payload.message])).toEqual([
    ["capability_request.declined", "It would break a law."],
  ]);
});

test("a replay sends the same bytes again, under the same id", async () => {
  await listen(["capability_request.submitted"]);
  const { requestId } = await makeRequest(project);
  await moveRequest(project.ctx, requestId, "submitted");
  await received();
  const [sent] = (await webhooks.deliveries(project.ctx, { limit: 1 })).items;
  project.clock.advance(60_000);
  await webhooks.replay(project.ctx, sent!.deliveryId);
  await received();
  expect(receiver.received).toHaveLength(2);
  const [first, again] = receiver.received;
  expect(again!.body).toBe(first!.body);
  expect(again!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
});

test("a request cannot move to quoted before its quote is stored", async () => {
  const { requestId } = await makeRequest(project);
  await moveRequest(project.ctx, requestId, "submitted");
  await moveRequest(project.ctx, requestId, "in_review");
  await expect(moveRequest(project.ctx, requestId, "quoted")).rejects.toThrow("store the quote");
  const { rows } = await pool.query("SELECT status FROM capability_request WHERE id = $1", [requestId]);
  expect(rows).toEqual([{ status: "in_review" }]);
});
