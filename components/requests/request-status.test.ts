import { expect, test } from "vitest";
import { RequestStatus } from "@/server/contract/requests";
import { lookOf, REQUEST_LOOK } from "./request-status";

test("what was paid or shipped is shown as going back while it does, and as refunded once it has", () => {
  for (const status of ["paid", "fulfilled"] as const) {
    expect(lookOf(status, null)).toBe(REQUEST_LOOK[status]);
    // The provider has taken it, and the money is not booked as returned yet.
    for (const refund of ["pending", "done"] as const)
      expect(lookOf(status, refund).label).toBe("Refund under way");
    expect(lookOf(status, "failed").label).toBe("Refund failed");
  }
  expect(lookOf("refunded", "done").label).toBe("Refunded");
});

test("a refund says nothing of a request that nothing was paid for", () => {
  for (const status of RequestStatus.options.filter((each) => each !== "paid" && each !== "fulfilled"))
    expect(lookOf(status, "failed")).toBe(REQUEST_LOOK[status]);
});
