import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ReturnedNotice } from "./returned-notice";

type Props = Parameters<typeof ReturnedNotice>[0];

const titleOf = (state: Props["payment"]["state"], processing: boolean, result: Props["result"]) => {
  const credit = { amountMicros: 10_000_000, amountMinor: 1000, currency: "USD", display: "10.00 USD" };
  const html = renderToStaticMarkup(
    <ReturnedNotice payment={{ state, processing, credit, test: false }} result={result} />,
  );
  return ["Paid", "Payment failed", "Payment processing", "Not paid"].filter((title) =>
    html.includes(`>${title}<`),
  );
};

test("a payment that is processing is shown as processing, also after its checkout expired and whatever the URL says", () => {
  for (const state of ["open", "expired"] as const)
    for (const result of ["success", "canceled"] as const)
      expect(titleOf(state, true, result)).toEqual(["Payment processing"]);
});

test("a checkout that was left or expired unpaid is not paid", () => {
  expect(titleOf("expired", false, "success")).toEqual(["Not paid"]);
  expect(titleOf("expired", false, "canceled")).toEqual(["Not paid"]);
  expect(titleOf("open", false, "canceled")).toEqual(["Not paid"]);
});

test("a paid or failed payment is shown as such whatever the URL says, and an open one is processing after a return with success", () => {
  expect(titleOf("open", false, "success")).toEqual(["Payment processing"]);
  expect(titleOf("paid", false, "canceled")).toEqual(["Paid"]);
  expect(titleOf("failed", false, "success")).toEqual(["Payment failed"]);
});
