import { expect, test } from "vitest";
import { requireJson, requireSameOrigin } from "./same-origin";

const post = (headers: Record<string, string>) =>
  new Request("https://panel.example/api/trpc/jobs.cancel", {
    method: "POST",
    headers: { host: "panel.example", ...headers },
  });

test.each<Record<string, string>>([
  { origin: "https://panel.example", "sec-fetch-site": "same-origin" },
  { origin: "https://panel.example" },
  { "sec-fetch-site": "same-origin" },
])("a request of our own pages passes: %j", (headers) => {
  expect(() => requireSameOrigin(post(headers))).not.toThrow();
});

test.each<Record<string, string>>([
  {},
  { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  { origin: "https://evil.example" },
  { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
  { origin: "https://panel.example.evil.example" },
  { origin: "https://sub.panel.example", "sec-fetch-site": "same-site" },
  { origin: "null" },
  { origin: "https://panel.example:8443" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "none" },
])("any other is refused: %j", (headers) => {
  expect(() => requireSameOrigin(post(headers))).toThrow(
    expect.objectContaining({ code: "CrossSiteRequest" }),
  );
});

test("only JSON counts as a body", () => {
  expect(() => requireJson(post({ "content-type": "application/json; charset=utf-8" }))).not.toThrow();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
    const refused = expect.objectContaining({ code: "UnsupportedMediaType" });
    expect(() => requireJson(post(type ? { "content-type": type } : {})), type).toThrow(refused);
  }
});
