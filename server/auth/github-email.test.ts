import { expect, test } from "vitest";
import { verifiedEmail } from "./github-email";

test("the verified primary address is the person's", () => {
  const emails = [
    { email: "old@example.com", primary: false, verified: true },
    { email: "ada@example.com", primary: true, verified: true },
  ];
  expect(verifiedEmail(emails)).toBe("ada@example.com");
});

test.each([
  [[{ email: "victim@example.com", primary: true, verified: false }]],
  [[{ email: "other@example.com", primary: false, verified: true }]],
  [[]],
  [{ message: "Requires authentication" }],
  [null],
])("without a verified primary address none is returned: %j", (emails) => {
  expect(verifiedEmail(emails)).toBeNull();
});
