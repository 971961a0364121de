import { expect, test } from "vitest";
import { ownPath } from "./callback-url";

const ORIGIN = "https://capstan.example";

test.each([
  ["/projects/cpr_1/jobs?status=failed", "/projects/cpr_1/jobs?status=failed"],
  ["https://capstan.example/projects/cpr_1/keys", "/projects/cpr_1/keys"],
  ["/docs#jobs", "/docs#jobs"],
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
  "/api/auth/signout",
  "",
])("anything else is the start: %s", (asked) => {
  expect(ownPath(asked, ORIGIN)).toBe("/");
});
