import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toSecrets } from "@/server/platform/crypto/secret";
import { getFile } from "@/server/providers/get-file";
import { type HttpIo, postJson } from "@/server/providers/http";
import { caughtFault, everythingOf } from "@/server/providers/testing/vendor";
import { type ProxyAnswer, startProxy } from "@/testing/connect-proxy";
import { type PlayedInternet, playInternet } from "@/testing/played-internet";
import { setSettings } from "@/testing/settings";
import { isPublicAddress } from "./addresses";
import { connectorOf } from "./connector";
import { fetchPublic } from "./fetch-public";
import { postText } from "./post-text";
import type { Network } from "./public-url";

/*
 * A proxy on this machine whose tunnels lead to a server with the certificate of hosts elsewhere. Every connection of this
 * process is recorded, so that a bypass of the proxy shows; one to an address elsewhere is led to the same server.
 */

const PUBLIC = "93.184.216.34";
const SECRET = "opensesame-9f8e7d";

let world: PlayedInternet;
let proxy: Awaited<ReturnType<typeof startProxy>>;

beforeAll(async () => {
  world = await playInternet();
  proxy = await startProxy(world.reach);
});
afterAll(async () => {
  await proxy.stop();
  await world.stop();
});
beforeEach(() => {
  world.begin();
  proxy.answer("tunnel");
  setSettings({ OUTGOING_PROXY: proxy.url, OUTGOING_NO_PROXY: [], OUTGOING_PROXY_RESOLVES: false });
});

/** Each call of `fresh` gives another port, so that no earlier connection is used again. */
let ports = 20_000;
const fresh = (host: string) => `${host}:${++ports}`;

const io = (baseUrl: string, more: Partial<HttpIo> = {}): HttpIo => ({
  baseUrl,
  credentials: toSecrets({ apiKey: "sk-canary-1" }),
  signal: new AbortController().signal,
  allowPrivateAddresses: false,
  ...more,
});
const ask = (baseUrl: string, more: Partial<HttpIo> = {}) =>
  postJson(io(baseUrl, more), "/v1", { body: {}, headers: {} });
const verdict = async (call: Promise<unknown>) => {
  const { kind, submission } = await caughtFault(call);
  return `${kind}/${submission}`;
};
const post = (address: string, allowPrivateAddresses = false) =>
  postText(address, "{}", {}, { allowHttp: true, allowPrivateAddresses, signal: AbortSignal.timeout(9_000) });
const network = (isLoose = false): Network => ({
  resolve: async (name) => world.names[name] ?? Promise.reject(new Error("unknown")),
  mayConnect: isPublicAddress,
  isLoose,
});
const fetch = (url: string, isLoose = false) =>
  fetchPublic(
    { url, maxBytes: 1_000 },
    {
      hosts: ["weights.example", "inside.example", "*.invalid"],
      network: network(isLoose),
      timeoutMs: 9_000,
    },
  );

describe("through the proxy", () => {
  test("a provider is called in a tunnel to its address, which successive calls share", async () => {
    const host = fresh(PUBLIC);
    for (let call = 0; call < 9; call += 1) expect((await ask(`https://${host}`)).body).toEqual({ ok: true });
    expect(proxy.asked[0]).toEqual({
      authority: host,
      headers: { host, "user-agent": "capstan", connection: "close" },
    });
    expect(proxy.asked.length).toBeLessThanOrEqual(2);
    expect(world.arrived).toEqual(Array(9).fill({ url: "/v1", host, name: "" }));
    expect(new Set(world.attempts)).toEqual(new Set([`127.0.0.1 ${proxy.port}`]));
    expect(proxy.others).toEqual([]);
  });

  test("a name is resolved here: the proxy gets its address and port 443, TLS inside gets the name", async () => {
    world.names = { "weights.example": ["2606:2800:21f::1", PUBLIC] };
    expect((await fetch("https://weights.example/file")).status).toBe(200);
    expect(proxy.authorities()).toEqual([`${PUBLIC}:443`]);
    expect(world.arrived).toEqual([{ url: "/file", host: "weights.example", name: "weights.example" }]);
    expect(world.attempts).toEqual([`127.0.0.1 ${proxy.port}`]);
  });

  test("a certificate of another name is refused before anything is sent", async () => {
    world.names = { "inside.example": [PUBLIC] };
    await expect(fetch("https://inside.example/")).rejects.toMatchObject({ reason: "unreachable" });
    expect(await verdict(ask("https://inside.example"))).toBe("unreachable/not_attempted");
    expect(proxy.authorities()).toEqual([`${PUBLIC}:443`, `${PUBLIC}:443`]);
    expect(world.arrived).toEqual([]);
  });

  test("a name that leads to a private address is refused here, and the proxy is not contacted", async () => {
    world.names = { "inside.example": [PUBLIC, "10.0.0.1"], "weights.example": [PUBLIC] };
    await expect(fetch("https://inside.example/")).rejects.toMatchObject({ reason: "address" });
    expect((await caughtFault(ask("https://inside.example"))).message).toContain("private");
    const operators = { isOperatorsAddress: true };
    expect(await verdict(ask("https://inside.example", operators))).toBe("unreachable/not_attempted");
    expect((await post("https://inside.example/")).error).toContain("private");
    expect(proxy.asked).toEqual([]);
    await expect(fetch("https://weights.example/moved")).rejects.toMatchObject({ reason: "address", hop: 1 });
    expect(proxy.authorities()).toEqual([`${PUBLIC}:443`]);
  });

  test("webhooks and files of providers go through the proxy, too", async () => {
    world.names = { "vendor.invalid": [PUBLIC] };
    const hook = fresh("vendor.invalid");
    expect(await post(`https://${hook}/hook`)).toEqual({ status: 200, error: null });
    expect((await getFile(`https://${fresh("vendor.invalid")}/file`, io(""))).status).toBe(200);
    expect(proxy.authorities()).toEqual([`${PUBLIC}:${ports - 1}`, `${PUBLIC}:${ports}`]);
    expect(world.arrived.map(({ name, url }) => `${name}${url}`)).toEqual([
      "vendor.invalid/hook",
      "vendor.invalid/file",
    ]);
  });

  test("an address that the proxy cannot reach is followed by the next, IPv4 first", async () => {
    world.names = { "weights.example": ["2606:2800:21f::1", PUBLIC] };
    proxy.answer(502, "tunnel");
    expect((await fetch("https://weights.example/")).status).toBe(200);
    expect(proxy.authorities()).toEqual([`${PUBLIC}:443`, "[2606:2800:21f::1]:443"]);
  });

  test("the user name and password are sent to the proxy without their percent-encoding", async () => {
    setSettings({ OUTGOING_PROXY: proxy.url.replace("//", `//robot%40corp:${SECRET}%3A@`) });
    await ask(`https://${fresh(PUBLIC)}`);
    expect(proxy.asked[0]?.headers["proxy-authorization"]).toBe(
      `Basic ${Buffer.from(`robot@corp:${SECRET}:`).toString("base64")}`,
    );
  });

  test("a proxy that speaks TLS is spoken to in TLS, and its certificate is checked", async () => {
    const secure = await startProxy(world.reach, { isSecure: true });
    try {
      setSettings({ OUTGOING_PROXY: secure.url });
      expect((await ask(`https://${fresh(PUBLIC)}`)).body).toEqual({ ok: true });
      expect(secure.authorities()).toEqual([`${PUBLIC}:${ports}`]);
      setSettings({ OUTGOING_PROXY: secure.url.replace("127.0.0.1", "127.0.0.2") });
      expect(await verdict(ask(`https://${fresh(PUBLIC)}`))).toBe("unreachable/not_attempted");
      expect(secure.asked).toHaveLength(1);
    } finally {
      await secure.stop();
    }
  });
});

describe("a proxy that opens no tunnel: nothing was sent, and no credential is shown", () => {
  test.each<[ProxyAnswer, string]>([
    [407, "The outgoing proxy requires a user name and password in OUTGOING_PROXY that it accepts (407)."],
    [502, "The outgoing proxy did not connect to the provider (502)."],
    [403, "The outgoing proxy did not connect to the provider (403)."],
    [302, "The outgoing proxy did not connect to the provider (302)."],
    ["early bytes", "The outgoing proxy did not connect to the provider (200)."],
    ["close", "The outgoing proxy in OUTGOING_PROXY could not be reached (ECONNRESET)."],
    ["reset", "The outgoing proxy in OUTGOING_PROXY could not be reached (ECONNRESET)."],
    ["garbage", "The outgoing proxy in OUTGOING_PROXY could not be reached (HPE_INVALID_CONSTANT)."],
    ["tunnel that closes", "A connection to the provider could not be established."],
    ["tunnel that resets", "A connection to the provider could not be established."],
  ])("a proxy that answers %s is reported", async (answer, message) => {
    setSettings({ OUTGOING_PROXY: proxy.url.replace("//", `//robot:${SECRET}@`) });
    proxy.answer(answer);
    const fault = await caughtFault(ask(`https://${fresh(PUBLIC)}`));
    expect([fault.kind, fault.submission, fault.message]).toEqual(["unreachable", "not_attempted", message]);
    const shown = everythingOf(fault);
    for (const part of [SECRET, "robot", Buffer.from(`robot:${SECRET}`).toString("base64")])
      expect(shown).not.toContain(part);
    expect(proxy.asked).toHaveLength(1);
    expect(world.arrived).toEqual([]);
  });

  test("a proxy that does not listen is unreachable", async () => {
    setSettings({ OUTGOING_PROXY: "http://127.0.0.1:1" });
    const { message } = await caughtFault(ask(`https://${fresh(PUBLIC)}`));
    expect(message).toBe("The outgoing proxy in OUTGOING_PROXY could not be reached (ECONNREFUSED).");
    world.names = { "weights.example": [PUBLIC] };
    await expect(fetch("https://weights.example/")).rejects.toMatchObject({
      reason: "proxy",
      isPassing: true,
    });
    expect((await post(`https://${fresh(PUBLIC)}/`)).error).toContain("OUTGOING_PROXY");
  });

  test.each<ProxyAnswer>(["silent", "tunnel that is silent"])(
    "the time limit ends a call through a proxy: %s",
    async (answer) => {
      proxy.answer(answer);
      const to = connectorOf({ timeoutMs: 50, lookup: undefined, isOperators: false });
      const host = { hostname: PUBLIC, host: PUBLIC, protocol: "https:", port: "" };
      const error = await new Promise((ended) => to(host, (...[error]) => ended(error)));
      expect(error).toMatchObject({ code: "UND_ERR_CONNECT_TIMEOUT" });
    },
  );

  test("a call that is stopped while the proxy is silent was not sent", async () => {
    proxy.answer("silent");
    const stop = new AbortController();
    const call = caughtFault(ask(`https://${fresh(PUBLIC)}`, { signal: stop.signal }));
    await vi.waitFor(() => expect(proxy.asked).toHaveLength(1), { interval: 5 });
    stop.abort();
    expect(await call).toMatchObject({ submission: "not_attempted", details: { aborted: true } });
  });
});

describe("connections without the proxy", () => {
  test.each([
    ["a host", "weights.example"],
    ["its port", "weights.example:443"],
    ["subdomains", ".example"],
    ["subdomains with a star", "*.example"],
    ["its address", PUBLIC],
    ["its address and port", `${PUBLIC}:443`],
    ["its network", "93.184.0.0/16"],
  ])("a target is reached directly where OUTGOING_NO_PROXY names %s", async (_form, entry) => {
    setSettings({ OUTGOING_NO_PROXY: ["other.example", entry] });
    world.names = { "weights.example": [PUBLIC] };
    expect((await fetch("https://weights.example/")).status).toBe(200);
    expect(world.attempts).toEqual([`${PUBLIC} 443`]);
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    "example",
    "eights.example",
    "weights.example:8443",
    ".weights.example",
    "93.184.216.35",
    "93.0.0.0/16",
  ])("OUTGOING_NO_PROXY=%s does not name weights.example", async (entry) => {
    setSettings({ OUTGOING_NO_PROXY: [entry] });
    world.names = { "weights.example": [PUBLIC] };
    expect((await fetch("https://weights.example/")).status).toBe(200);
    expect(proxy.authorities()).toEqual([`${PUBLIC}:443`]);
  });

  test("a private address is refused for a name that bypasses the proxy", async () => {
    setSettings({ OUTGOING_NO_PROXY: ["inside.example"] });
    world.names = { "inside.example": ["10.0.0.1"] };
    expect((await caughtFault(ask("https://inside.example"))).message).toContain("private");
    expect((await post("https://localhost/")).error).toContain("private");
    expect(world.attempts).toEqual([]);
  });

  test("loopback, the sandbox and plain http never use the proxy", async () => {
    const open = { allowPrivateAddresses: true };
    world.names = { localhost: ["127.0.0.1"], "here.example": ["127.0.0.1"] };
    // The server's certificate names none of these; the test is about where the connection goes.
    for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "here.example"])
      await caughtFault(ask(`https://${host}:${world.port}`, open));
    setSettings({ SANDBOX_URL: `https://${PUBLIC}:8443/` });
    expect((await ask(`https://${PUBLIC}:8443`, open)).body).toEqual({ ok: true });
    await caughtFault(ask(`http://${PUBLIC}:8080`, open));
    expect(world.attempts).toEqual([
      ...["127.0.0.1", "127.0.0.1", "127.9.9.9", "127.0.0.1"].map((address) => `${address} ${world.port}`),
      ...[`${PUBLIC} 8443`, `${PUBLIC} 8080`],
    ]);
    expect([...proxy.asked, ...proxy.others]).toEqual([]);
  });

  test("a private address that the operator allows goes through the proxy, unless OUTGOING_NO_PROXY names its network", async () => {
    const open = { allowPrivateAddresses: true };
    await caughtFault(ask("https://10.1.2.3:8001", open));
    expect(proxy.authorities()).toEqual(["10.1.2.3:8001"]);
    setSettings({ OUTGOING_NO_PROXY: ["10.0.0.0/8"] });
    world.names = { "vendor.invalid": ["10.1.2.3"] };
    expect((await ask("https://vendor.invalid:8002", open)).body).toEqual({ ok: true });
    expect(world.attempts.slice(1)).toEqual(["10.1.2.3 8002"]);
  });

  test("without OUTGOING_PROXY the environment's proxies change nothing", async () => {
    setSettings({ OUTGOING_PROXY: undefined });
    process.env.HTTPS_PROXY = proxy.url;
    try {
      const host = fresh(PUBLIC);
      expect((await ask(`https://${host}`)).body).toEqual({ ok: true });
      expect(world.attempts).toEqual([host.replace(":", " ")]);
      expect(proxy.asked).toEqual([]);
    } finally {
      delete process.env.HTTPS_PROXY;
    }
  });
});

describe("names that only the proxy resolves", () => {
  const unknown =
    "The provider's host name could not be resolved. Where only the outgoing proxy resolves names,";

  test("callers' names are refused, and the message names the setting", async () => {
    const { message, submission } = await caughtFault(ask(`https://${fresh("vendor.invalid")}`));
    expect([submission, message]).toEqual([
      "not_attempted",
      `${unknown} OUTGOING_PROXY_RESOLVES=1 is required.`,
    ]);
    expect((await post(`https://${fresh("vendor.invalid")}/`)).error).toContain("OUTGOING_PROXY_RESOLVES=1");
    await expect(fetch("https://vendor.invalid/")).rejects.toMatchObject({
      message: expect.stringContaining("OUTGOING_PROXY_RESOLVES=1"),
      isPassing: true,
    });
    expect(await verdict(getFile(`https://${fresh("vendor.invalid")}/`, io("")))).toBe("lost/ambiguous");
    expect(proxy.asked).toEqual([]);
  });

  test("a name that the operator chose for the provider is left to the proxy", async () => {
    const host = fresh("vendor.invalid");
    expect((await ask(`https://${host}`, { isOperatorsAddress: true })).body).toEqual({ ok: true });
    expect(proxy.authorities()).toEqual([host]);
    expect(world.arrived[0]?.name).toBe("vendor.invalid");
    // The connection does not serve a caller who names the same address.
    expect(await verdict(ask(`https://${host}`))).toBe("unreachable/not_attempted");
  });

  test("with OUTGOING_PROXY_RESOLVES every name is left to the proxy, and none is looked up", async () => {
    setSettings({ OUTGOING_PROXY_RESOLVES: true });
    world.names = { "weights.example": ["10.0.0.1"] };
    expect((await fetch("https://weights.example/")).status).toBe(200);
    expect((await ask("https://vendor.invalid")).body).toEqual({ ok: true });
    expect((await post(`https://${fresh("vendor.invalid")}/`)).status).toBe(200);
    expect(proxy.authorities()).toEqual([
      "weights.example:443",
      "vendor.invalid:443",
      `vendor.invalid:${ports}`,
    ]);
    expect(world.arrived.map(({ name }) => name)).toEqual([
      "weights.example",
      "vendor.invalid",
      "vendor.invalid",
    ]);
  });

  test("with OUTGOING_PROXY_RESOLVES, private addresses and localhost are still refused", async () => {
    setSettings({ OUTGOING_PROXY_RESOLVES: true });
    world.names = { localhost: ["127.0.0.1"] };
    for (const host of ["10.0.0.1", "[::1]", "169.254.169.254", "2130706433", "localhost", "a.localhost."]) {
      expect(await verdict(ask(`https://${host}`)), host).toBe("unreachable/not_attempted");
      expect((await post(`https://${host}/`)).error, host).toContain("private");
    }
    expect(proxy.asked).toEqual([]);
    expect(world.attempts).toEqual([]);
  });
});
