import { afterEach, expect, test, vi } from "vitest";
import { log } from "@/server/platform/log/log";
import { publicUrl } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";
import { requireOwnPage } from "./own-page";

const PUBLIC_ORIGIN = new URL(publicUrl).origin;
afterEach(() => {
  setSettings({ TRUSTED_PROXIES: 0 });
  vi.restoreAllMocks();
});

const post = (headers: Record<string, string>) => {
  const sent: Record<string, string> = { host: "panel.example", ...headers };
  return { header: (name: string) => sent[name] };
};

test.each<Record<string, string>>([
  { origin: "https://panel.example", "sec-fetch-site": "same-origin" },
  { origin: "https://panel.example" },
  { "sec-fetch-site": "same-origin" },
])("a request of our own pages passes: %j", (headers) => {
  expect(() => requireOwnPage(post(headers))).not.toThrow();
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
])("a request that is not from our own pages is refused: %j", (headers) => {
  expect(() => requireOwnPage(post(headers))).toThrow(expect.objectContaining({ code: "CrossSiteRequest" }));
});

test("a page of PUBLIC_URL passes behind a proxy that does not forward Host", () => {
  for (const more of [{}, { "sec-fetch-site": "same-origin" }] as Record<string, string>[])
    expect(() =>
      requireOwnPage(post({ host: "capstan_backend", origin: PUBLIC_ORIGIN, ...more })),
    ).not.toThrow();
});

test.each<[string, number, Record<string, string>, boolean]>([
  ["X-Forwarded-Host of no trusted proxy", 0, { "x-forwarded-host": "panel.example" }, false],
  ["X-Forwarded-Host of a trusted proxy", 1, { "x-forwarded-host": "panel.example" }, true],
  [
    "one that a caller put before the proxy's",
    1,
    { "x-forwarded-host": "panel.example, other.example" },
    false,
  ],
  ["the outer one of two trusted proxies", 2, { "x-forwarded-host": "panel.example, inner.example" }, true],
  ["a port that the scheme implies", 1, { "x-forwarded-host": "panel.example:443" }, true],
])("the origin must match the host that trusted proxies forward: %s", (_name, proxies, headers, passes) => {
  setSettings({ TRUSTED_PROXIES: proxies });
  const asking = expect(() =>
    requireOwnPage(post({ host: "backend", origin: "https://panel.example", ...headers })),
  );
  if (passes) asking.not.toThrow();
  else asking.toThrow(expect.objectContaining({ code: "CrossSiteRequest" }));
});

test("an http page is refused if a trusted proxy reports that the request came by https", () => {
  const insecure = post({ origin: "http://panel.example", "x-forwarded-proto": "https" });
  expect(() => requireOwnPage(insecure)).not.toThrow();
  setSettings({ TRUSTED_PROXIES: 1 });
  expect(() => requireOwnPage(insecure)).toThrow(expect.objectContaining({ code: "CrossSiteRequest" }));
});

test("the error for an unknown address names both addresses and the setting", () => {
  const refused = post({ host: "backend", origin: "https://panel.test", "sec-fetch-site": "same-origin" });
  expect(() => requireOwnPage(refused)).toThrow(
    `This page was opened at https://panel.test, but this installation is set up for ${PUBLIC_ORIGIN}. Open it there, or ask your operator to set PUBLIC_URL to https://panel.test.`,
  );
});

test("the log names the received and the expected origin, once until either changes, at most once a minute", () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000_000);
  const warned = vi.spyOn(log, "warn").mockReturnValue();
  const ask = (origin: string, more: Record<string, string> = {}) =>
    expect(() => requireOwnPage(post({ host: "backend", origin, ...more }))).toThrow();
  const origins = () => warned.mock.calls.map(([facts]) => facts);
  const first = { origin: "https://one.example", expected: PUBLIC_ORIGIN, host: "backend" };
  ask("https://one.example");
  ask("https://one.example");
  ask("https://two.example"); // within the minute
  expect(origins()).toEqual([first]);
  clock.mockReturnValue(10_060_000);
  ask("https://one.example");
  ask("https://two.example");
  ask("https://three.example", { "sec-fetch-site": "cross-site" }); // another site: no setting is wrong
  expect(origins()).toEqual([first, { ...first, origin: "https://two.example" }]);
});
