import fc from "fast-check";
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { ownPath } from "./callback-url";

const ORIGIN = "https://capstan.example";

test.each([
  ["/projects/cpr_1/jobs?status=failed", "/projects/cpr_1/jobs?status=failed"],
  ["https://capstan.example/projects/cpr_1/keys", "/projects/cpr_1/keys"],
  ["/docs#jobs", "/docs#jobs"],
  ["/jobs//1?next=//evil.example", "/jobs//1?next=//evil.example"],
  ["/sign-in?callbackUrl=%2Fjobs%2Fwfr_1%3Ftab%3Dreceipt&reason=ended", "/jobs/wfr_1?tab=receipt"],
  ["/sign-in?callbackUrl=%2Fsign-in%3FcallbackUrl%3D%252Faccount", "/account"],
])("a page of our own is kept: %s", (asked, path) => {
  expect(ownPath(asked, ORIGIN)).toBe(path);
});

test.each([
  "https://evil.example/projects",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https://capstan.example.evil.example/",
  "https://capstan.example@evil.example/",
  "http://capstan.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "/\t/evil.example",
  "http://[",
  "/sign-in?callbackUrl=/sign-in",
  "/sign-in?callbackUrl=//evil.example",
  "/sign-in?callbackUrl=%2F.%2F%2Fevil.example",
  "/api/auth/signout",
  "/.//evil.example/x",
  ".//evil.example/x",
  "/..//evil.example/x",
  "/%2e//evil.example/x",
  "/docs/..//evil.example/x",
  "/.\\/evil.example/x",
  "/.\t//evil.example/x",
  "https://capstan.example//evil.example/x",
  "https:\\\\capstan.example\\\\evil.example",
  "",
])("any other address becomes the start page: %s", (asked) => {
  expect(ownPath(asked, ORIGIN)).toBe("/");
});

const PIECES = [
  ...String.raw`/ // \ . .. %2e %2E%2e %2f %5C %252F @ : ? # ; https: http: javascript: docs /api/`.split(
    " ",
  ),
  ...["capstan.example", "evil.example", ORIGIN, "/sign-in?callbackUrl="],
  ..." \t\n\r\0\u00a0\u3002\uff0f\ud800",
];

test("no spelling leads to another site, and a path leads to itself", () => {
  const spelling = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(""));
  const property = fc.property(spelling, (asked) => {
    const path = ownPath(asked, ORIGIN);
    // A browser resolves the header of a redirect against the page, and a script may append the path to the origin.
    expect(new URL(path, `${ORIGIN}/sign-in`).origin).toBe(ORIGIN);
    expect(new URL(ORIGIN + path).origin).toBe(ORIGIN);
    expect(path).toMatch(/^\/(?![/\\])/);
    expect(ownPath(path, ORIGIN)).toBe(path);
  });
  fc.assert(property, campaign.runs({ small: 2000, full: 100_000 }));
});
