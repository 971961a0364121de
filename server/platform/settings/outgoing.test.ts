import { expect, test } from "vitest";
import { parseEnv } from "@/server/platform/settings/env";
import { settingWarnings } from "@/server/platform/settings/secrets";
import { PRODUCTION } from "@/testing/wrong-settings";

const OUTGOING_PROXY = "http://robot:opensesame@proxy.corp:3128";

test.each([
  OUTGOING_PROXY,
  "https://proxy.corp",
  "HTTP://10.0.0.1:80/",
  "http://[fd00::1]:3128",
  "http://robot%40corp:%3A@proxy.corp",
])("%s is the address of a proxy", (address) => {
  expect(parseEnv({ OUTGOING_PROXY: ` ${address} ` })).toMatchObject({ OUTGOING_PROXY: address });
});

test.each([
  "proxy.corp",
  "proxy.corp:3128",
  "//proxy.corp:3128",
  "socks5://proxy.corp:1080",
  "http://",
  "http:///",
  "http://:3128",
  "http://user:opensesame@",
  "http://user:opensesame@proxy.corp/path",
  "http://user:opensesame@proxy.corp?query",
  "http://user:opensesame@proxy.corp/#hash",
  "http://user:opensesame%zz@proxy.corp",
  "http://proxy.corp:0",
  "http://proxy.corp:70000",
  "http://one.corp,http://two.corp",
  "1",
])("%s is not the address of a proxy, and the refusal does not show it", (address) => {
  const refused = () => parseEnv({ OUTGOING_PROXY: address });
  expect(refused).toThrow(/^Invalid settings:\nOUTGOING_PROXY: must be an address without a path.*$/);
  expect(refused).not.toThrow(/opensesame|corp/);
});

test("OUTGOING_NO_PROXY accepts hosts, subdomains, addresses and networks, in any case and with spaces", () => {
  const entries = [
    ...["Example.org", "example.org:8443", ".example.org", "*.example.org:443", "a_b.internal", "intranet"],
    ...["10.1.2.3", "10.1.2.3:8443", "10.0.0.0/8", "fd00::1", "[fd00::1]", "[fd00::1]:443", "fd00::/8"],
  ];
  const { OUTGOING_NO_PROXY } = parseEnv({ OUTGOING_NO_PROXY: entries.join(" , ") });
  expect(OUTGOING_NO_PROXY).toEqual(entries.map((each) => each.toLowerCase()));
});

test.each([
  ...["*", "*.", ".", "a..b", "ex*mple.org", "https://example.org", "example.org/path", "exämple.org"],
  ...["example.org:0", "example.org:65536", "example.org:http", "example.org:", "*.10.0.0.1", "[10.0.0.1]"],
  ...["10.0.0.0/33", "fd00::/129", "10.0.0.0/", "example.org/8", "[fd00::1", "a b", "a,,b", "a,"],
])("OUTGOING_NO_PROXY=%s is refused", (list) => {
  expect(() => parseEnv({ OUTGOING_NO_PROXY: list })).toThrow(
    /^Invalid settings:\nOUTGOING_NO_PROXY: must be a comma-separated list of hosts.*$/,
  );
});

test.each([
  [
    "a proxy for other programs",
    {},
    ["HTTP_PROXY", "https_proxy"],
    "HTTP_PROXY, https_proxy: .* set OUTGOING_PROXY",
  ],
  ["exceptions for other programs", { OUTGOING_PROXY }, ["NO_PROXY"], "NO_PROXY: .* set OUTGOING_NO_PROXY"],
  [
    "names that the proxy resolves",
    { OUTGOING_PROXY, OUTGOING_PROXY_RESOLVES: "1" },
    [],
    "RESOLVES=1 is unsafe",
  ],
])("a start with %s warns, and names the setting", (_name, changes, given, sentence) => {
  const warnings = settingWarnings(parseEnv({ ...PRODUCTION, ...changes }), given);
  expect(warnings).toEqual([expect.stringMatching(sentence)]);
  expect(warnings.join()).not.toMatch(/opensesame|corp/);
});

test("a start without proxies, or with OUTGOING_PROXY beside them, does not warn", () => {
  expect(settingWarnings(parseEnv(PRODUCTION), ["NO_PROXY", "PATH"])).toEqual([]);
  const beside = { ...PRODUCTION, OUTGOING_PROXY, OUTGOING_NO_PROXY: "example.org" };
  expect(settingWarnings(parseEnv(beside), ["HTTP_PROXY", "NO_PROXY"])).toEqual([]);
});
