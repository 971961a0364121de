import { expect, test } from "vitest";
import { RequestStatus } from "@/server/contract/requests";
import { explainRefund, explainStatus } from "./explain";

const EXPIRES = "2026-11-26T10:00:00.000Z";
const before = Date.parse(EXPIRES) - 1;

test("each state is explained in one or two sentences, with whose turn it is", () => {
  const turns = RequestStatus.options.map((status) => {
    const { text, turn } = explainStatus({ status }, EXPIRES, before);
    expect(text).toMatch(/^[A-Z][^.]*\.( [A-Z][^.]*\.)?$/);
    return [status, turn];
  });
  expect(Object.fromEntries(turns)).toEqual({
    draft: "members",
    submitted: "operator",
    in_review: "operator",
    needs_information: "members",
    quoted: "members",
    declined: "none",
    paid: "operator",
    fulfilled: "none",
    refunded: "none",
  });
});

test("an unpaid quote becomes the operator's turn at the moment it expires", () => {
  expect(explainStatus({ status: "quoted" }, EXPIRES, Date.parse(EXPIRES))).toMatchObject({
    turn: "operator",
    text: expect.stringContaining("expired"),
  });
});

test("a refund in progress waits for the provider, or for the operator after a failure", () => {
  expect(explainRefund(false)).toMatchObject({
    turn: "none",
    text: expect.stringContaining("in progress"),
  });
  expect(explainRefund(true)).toMatchObject({ turn: "operator", text: expect.stringContaining("failed") });
});
