import { expect, test } from "vitest";
import { RequestStatus } from "@/server/contract/requests";
import { lookOf, REQUEST_LOOK } from "./request-status";

test("a paid or shipped request shows its refund in progress, and refunded once it is done", () => {
  for (const status of ["paid", "fulfilled"] as const) {
    expect(lookOf(status, null)).toBe(REQUEST_LOOK[status]);
    // The provider accepted it, and the money is not recorded as returned yet.
    for (const refund of ["pending", "done"] as const)
      expect(lookOf(status, refund).label).toBe("Refund in progress");
    expect(lookOf(status, "failed").label).toBe("Refund failed");
  }
  expect(lookOf("refunded", "done").label).toBe("Refunded");
});

test("a refund does not change how an unpaid request looks", () => {
  for (const status of RequestStatus.options.filter((each) => each !== "paid" && each !== "fulfilled"))
    expect(lookOf(status, "failed")).toBe(REQUEST_LOOK[status]);
});
