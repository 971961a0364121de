import { expect, test } from "vitest";
import { RequestStatus } from "@/server/contract/requests";
import { explain, explainRefund } from "./explain";

const EXPIRES = "2026-11-26T10:00:00.000Z";
const before = Date.parse(EXPIRES) - 1;

test("each state is explained in one sentence that says whose turn it is", () => {
  const turns = RequestStatus.options.map((status) => {
    const { text, turn } = explain({ status }, EXPIRES, before);
    expect(text).toMatch(/^[A-Z][^.]*\.( No key can\.)?$/);
    return [status, turn];
  });
  expect(Object.fromEntries(turns)).toEqual({
    draft: "members",
    submitted: "operator",
    in_review: "operator",
    needs_information: "members",
    quoted: "members",
    declined: "nobody",
    paid: "operator",
    fulfilled: "nobody",
    refunded: "nobody",
  });
});

test("a quote that expired unpaid is the operator's turn again, from the moment it expires", () => {
  expect(explain({ status: "quoted" }, EXPIRES, Date.parse(EXPIRES))).toMatchObject({
    turn: "operator",
    text: expect.stringContaining("expired"),
  });
});

test("money that goes back is told as that: the provider has it to do, or after a failure the operator", () => {
  expect(explainRefund(false)).toMatchObject({ turn: "nobody", text: expect.stringContaining("goes back") });
  expect(explainRefund(true)).toMatchObject({ turn: "operator", text: expect.stringContaining("could not") });
});
