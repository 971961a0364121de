import { expect, test } from "vitest";
import { IssueCommissionQuote } from "@/server/contract/requests";
import { EMPTY_QUOTE, readQuote } from "./read-quote";

const WRITTEN = {
  ...EMPTY_QUOTE,
  price: "1250.00",
  display: " about $0.02 a page ",
  startingAt: "0.02",
  days: "7",
};

test("a completed form becomes the quote to issue", () => {
  const { quote, problems } = readQuote({ ...WRITTEN, note: " At once. " });
  expect(problems).toEqual({});
  expect(IssueCommissionQuote.parse({ ...quote, requestId: "cr_1", revisionId: "crr_1" })).toMatchObject({
    priceMicros: 1_250_000_000,
    currency: "USD",
    runtimePricing: {
      mode: "metered",
      billingCurrency: "USD",
      display: "about $0.02 a page",
      startingAtMicros: 20_000,
    },
    targetBusinessDays: 7,
    note: "At once.",
  });
});

test("a quote in Canadian dollars has its run price in Canadian dollars too", () => {
  const { quote } = readQuote({ ...WRITTEN, currency: "CAD" });
  expect(quote).toMatchObject({ currency: "CAD", runtimePricing: { billingCurrency: "CAD" } });
});

test("free pricing has no starting price, even if one was entered before", () => {
  const { quote } = readQuote({ ...WRITTEN, mode: "free", startingAt: "not a number" });
  expect(quote?.runtimePricing).toMatchObject({ mode: "free", startingAtMicros: null });
});

test.each([
  [{ price: "12.345" }, "price"],
  [{ startingAt: "cheap" }, "startingAt"],
  [{ days: "0" }, "days"],
  [{ days: "251" }, "days"],
  [{ days: "1.5" }, "days"],
  [{ display: "  " }, "display"],
])("%j is reported at its field, and nothing is issued", (change, field) => {
  const { quote, problems } = readQuote({ ...WRITTEN, ...change });
  expect(quote).toBeNull();
  expect(Object.keys(problems)).toEqual([field]);
});

test("an empty form reports every required field, in reading order", () => {
  expect(Object.keys(readQuote({ ...EMPTY_QUOTE, days: "" }).problems)).toEqual(["price", "days", "display"]);
});

test("the price is in whole cents and the starting price may be below a cent, as the service accepts", () => {
  const { quote } = readQuote({ ...WRITTEN, price: "1000000", startingAt: "0.000125" });
  expect(
    IssueCommissionQuote.parse({ ...quote, requestId: "cr_1", revisionId: "crr_1" }).runtimePricing,
  ).toMatchObject({ startingAtMicros: 125 });
  for (const price of ["0.99", "1000000.01", "1,250.00"])
    expect(readQuote({ ...WRITTEN, price }).problems).toHaveProperty("price");
  expect(readQuote({ ...WRITTEN, startingAt: "1000.01" }).problems).toHaveProperty("startingAt");
});
