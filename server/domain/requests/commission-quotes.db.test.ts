import { describe, expect, test } from "vitest";
import { CommissionQuote, IssueCommissionQuote } from "@/server/contract/requests";
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { fileNeed, forceMove, needIn, operatorAt, priceOf, quotedNeed } from "@/testing/needs";
import { makeProject } from "@/testing/world";
import * as requests from ".";
import { body, makeClocked } from "./clocked.fixture";

/** Waits for this many round trips to the database. */
async function pause(turns: number) {
  for (let turn = 0; turn < turns; turn++) await pool.query("SELECT 1");
}

describe("a commission quote", () => {
  test("a quote has every field of its contract, and the customer reads the same", async () => {
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

  test("a quote can be read until 14 days have passed, to the millisecond; the request stays quoted", async () => {
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

  test("a new quote is issued once the old one has expired, and not before; the old one is superseded", async () => {
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

  test("a revision supersedes the quote in the same transaction, and no one can read the quote any longer", async () => {
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

  test("a quote is for the wording that was read; if the request has another one now, it is a conflict", async () => {
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

  test("a paid quote can be read past its expiry, and its request can no longer be revised", async () => {
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

  test("with quotes issued and requests reworded at once, 30 times, no quote of an old wording can ever be paid", {
    tags: "long",
  }, async () => {
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
