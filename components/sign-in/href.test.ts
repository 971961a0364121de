import { expect, test } from "vitest";
import { ownPath } from "@/server/auth/callback-url";
import { returnHref } from "./href";

const at = (address: string) => new URL(address, "https://capstan.example");

test("a reader whose session ended returns to the same page with its filters", () => {
  const page = "/projects/cpr_1/jobs?status=failed&tag=a%26b";
  const signIn = at(returnHref(at(page)) ?? "");
  expect(signIn.pathname).toBe("/sign-in");
  expect(signIn.searchParams.get("reason")).toBe("ended");
  expect(ownPath(signIn.searchParams.get("callbackUrl"), signIn.origin)).toBe(page);
});

test("a response that arrives on the sign-in page does not change the page's address", () => {
  expect(returnHref(at("/sign-in?callbackUrl=%2Fjobs%2Fwfr_1"))).toBeNull();
});
