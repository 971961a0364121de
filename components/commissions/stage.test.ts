import { expect, test } from "vitest";
import { commissionOf, NOW, paymentOf, refundOf } from "./commission.fixture";
import {
  checkoutNews,
  commissionPollMs,
  commissionStage,
  payingPayment,
  returnedAutomatically,
} from "./stage";

const now = Date.parse(NOW);
const MINE = { payment: "pmt_1", result: "success" } as const;
const CANCELED = { payment: "pmt_1", result: "canceled" } as const;

test("an unpaid quote can be paid until it expires by the server's clock", () => {
  const quote = commissionOf();
  expect(commissionStage(quote, {}, now)).toEqual({ kind: "payable" });
  expect(commissionStage(quote, {}, Date.parse(quote.quote.expiresAt) - 1)).toEqual({ kind: "payable" });
  expect(commissionStage(quote, {}, Date.parse(quote.quote.expiresAt))).toEqual({ kind: "expired" });
  expect(commissionStage(commissionOf({ status: "expired" }), {}, now)).toEqual({ kind: "expired" });
});

test("a reader returning from the checkout waits only while their own payment is open", () => {
  const open = commissionOf({ payments: [paymentOf()] });
  expect(commissionStage(open, MINE, now)).toEqual({ kind: "confirming" });
  expect(commissionStage(open, {}, now)).toEqual({ kind: "payable" });
  // Anyone can type the URL, so the URL alone proves nothing.
  expect(commissionStage(commissionOf(), MINE, now)).toEqual({ kind: "payable" });
  expect(commissionStage(open, { payment: "pmt_2", result: "success" }, now)).toEqual({ kind: "payable" });
});

test("a reader who left the checkout learns that nothing was charged, whether it is open or closed", () => {
  for (const state of ["open", "expired"] as const) {
    const left = commissionOf({ payments: [paymentOf({ state })] });
    const stage = commissionStage(left, CANCELED, now);
    expect(stage).toEqual({ kind: "payable" });
    expect(checkoutNews(left, CANCELED, stage)).toBe("canceled");
    expect(checkoutNews(left, {}, stage)).toBeNull();
  }
  const failed = commissionOf({ payments: [paymentOf({ state: "failed" })] });
  expect(checkoutNews(failed, MINE, { kind: "payable" })).toBe("failed");
  const closed = commissionOf({ payments: [paymentOf({ state: "expired" })] });
  expect(checkoutNews(closed, MINE, { kind: "payable" })).toBe("closed");
});

test("a canceled checkout in the URL is ignored once the commission is paid", () => {
  const payments = [
    paymentOf({ paymentId: "pmt_2", state: "paid", paidAt: NOW }),
    paymentOf({ state: "expired" }),
  ];
  const paid = commissionOf({ status: "paid", request: { status: "paid" }, payments });
  expect(checkoutNews(paid, CANCELED, commissionStage(paid, CANCELED, now))).toBeNull();
});

test("a processing payment is not paid and cannot be paid again", () => {
  const payment = paymentOf({ state: "processing" });
  expect(commissionStage(commissionOf({ payments: [payment] }), MINE, now)).toEqual({
    kind: "processing",
    payment,
  });
});

test("a replaced quote names the newer quote if there is one", () => {
  const requoted = commissionOf({ status: "superseded", request: { quoteId: "cq_2" } });
  expect(commissionStage(requoted, {}, now)).toEqual({ kind: "superseded", byQuoteId: "cq_2" });
  const revised = commissionOf({ status: "superseded", request: { quoteId: null, status: "draft" } });
  expect(commissionStage(revised, {}, now)).toEqual({ kind: "superseded", byQuoteId: null });
});

test("a paid quote shows the payment that paid it to every reader", () => {
  const second = paymentOf({ paymentId: "pmt_2", state: "paid", refund: refundOf("already_paid") });
  const first = paymentOf({ state: "paid", paidAt: NOW });
  const paid = commissionOf({ status: "paid", request: { status: "paid" }, payments: [second, first] });
  expect(payingPayment(paid.payments)).toBe(first);
  expect(commissionStage(paid, MINE, now)).toEqual({ kind: "paid", payment: first, isFresh: true });
  expect(commissionStage(paid, {}, now)).toEqual({ kind: "paid", payment: first, isFresh: false });
  expect(commissionStage(paid, { payment: "pmt_2", result: "success" }, now)).toMatchObject({
    isFresh: false,
  });
  expect(returnedAutomatically(paid)).toEqual([second]);
});

test("a paid commission ships or is refunded: pending, failed, done", () => {
  const payment = paymentOf({ state: "paid", paidAt: NOW });
  const shipped = commissionOf({
    status: "paid",
    request: { status: "fulfilled", capabilityKey: "drawing.measure.v1", fulfilledAt: NOW },
    payments: [payment],
  });
  expect(commissionStage(shipped, {}, now)).toEqual({
    kind: "fulfilled",
    capabilityKey: "drawing.measure.v1",
    payment,
  });
  const asked = paymentOf({ state: "paid", paidAt: NOW, refund: refundOf("operator") });
  const going = commissionOf({ status: "paid", request: { status: "fulfilled" }, payments: [asked] });
  expect(commissionStage(going, {}, now)).toEqual({ kind: "refunding", payment: asked, hasFailed: false });
  const refused = paymentOf({ state: "paid", paidAt: NOW, refund: refundOf("operator", "failed") });
  const stuck = commissionOf({ status: "paid", request: { status: "paid" }, payments: [refused] });
  expect(commissionStage(stuck, {}, now)).toMatchObject({ kind: "refunding", hasFailed: true });
  const back = commissionOf({ status: "paid", request: { status: "refunded" }, payments: [asked] });
  expect(commissionStage(back, {}, now)).toEqual({ kind: "refunded", payment: asked });
});

test("a late payment for an expired quote is refunded, and the quote stays expired", () => {
  const late = paymentOf({ state: "paid", paidAt: NOW, refund: refundOf("expired") });
  const quote = commissionOf({ status: "expired", payments: [late] });
  const stage = commissionStage(quote, MINE, now);
  expect(stage).toEqual({ kind: "expired" });
  expect(returnedAutomatically(quote)).toEqual([late]);
  expect(commissionPollMs(quote, stage)).toBe(10_000);
});

test("polling is frequent while a payment is confirmed, rare while it may be paid or refunded, and then stops", () => {
  expect(commissionPollMs(commissionOf(), { kind: "confirming" })).toBe(2_000);
  expect(commissionPollMs(commissionOf(), { kind: "payable" })).toBe(30_000);
  expect(commissionPollMs(commissionOf(), { kind: "expired" })).toBe(false);
  expect(
    commissionPollMs(commissionOf(), {
      kind: "fulfilled",
      capabilityKey: "drawing.measure.v1",
      payment: null,
    }),
  ).toBe(30_000);
  expect(commissionPollMs(commissionOf(), { kind: "refunded", payment: null })).toBe(false);
});
