import { createServer, type Server, Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOSTS, LOCATIONS, NAMES, type NameCase } from "@/testing/corpora/ssrf/names";
import { LISTED, TEXTS } from "@/testing/corpora/ssrf/texts";
import { listen } from "@/testing/listener";
import { isPublicAddress } from "./addresses";
import { FetchFault } from "./fetch-fault";
import { type FetchRules, fetchPublic } from "./fetch-public";
import { type Network, readPublicUrl } from "./public-url";

/*
 * No text of a caller or a server leads a fetch to a blocked address. Connections are counted twice: by listeners on every
 * address of this machine, and by every attempt of this process to open a connection anywhere.
 */

let blocked: Server;
let blockedPort = 0;
let reached = 0;
let good: Awaited<ReturnType<typeof listen>>;
/** The Location of the good server's next answer. */
let location: string | null | undefined;

const attempts: string[] = [];
const { connect } = Socket.prototype;

beforeAll(async () => {
  blocked = createServer((socket) => {
    reached += 1;
    socket.on("error", () => {});
    socket.resume();
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret");
  });
  await new Promise<void>((listening) => blocked.listen(0, "::", listening));
  const address = blocked.address();
  blockedPort = typeof address === "object" && address ? address.port : 0;
  good = await listen((_request, _body, response) => {
    if (location === undefined) return void response.end("weights");
    response.writeHead(
      302,
      location === null ? {} : { location: location.replace("{port}", `${blockedPort}`) },
    );
    response.end();
  });
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
    this.on("connectionAttempt", (ip, port) => attempts.push(`${ip} ${port}`));
    return Reflect.apply(connect, this, given);
  } as typeof connect;
});
afterAll(async () => {
  Socket.prototype.connect = connect;
  await good.stop();
  await new Promise((closed) => blocked.close(closed));
});
beforeEach(() => {
  attempts.length = 0;
  reached = 0;
  location = undefined;
});
afterEach(() => expect(reached).toBe(0));

let lookups = 0;
/** A resolver with these answers, one lookup after the other. */
function resolving(names: Record<string, NameCase["lookups"]>): Network["resolve"] {
  const asked = new Map<string, number>();
  return async (hostname) => {
    lookups += 1;
    const answers = names[hostname];
    const count = asked.get(hostname) ?? 0;
    asked.set(hostname, count + 1);
    const answer = answers?.[Math.min(count, answers.length - 1)] ?? "ENOTFOUND";
    if (typeof answer === "string") throw Object.assign(new Error(answer), { code: answer });
    return answer;
  };
}

const NONE = resolving({});
const strict = (resolve = NONE): Network => ({ resolve, mayConnect: isPublicAddress, isLoose: false });
/** Applies the rule of addresses alone, without those of schemes and ports. */
const loose = (resolve = NONE): Network => ({ resolve, mayConnect: isPublicAddress, isLoose: true });
/** Treats one address of this machine as public. */
const local = (resolve = NONE): Network => ({
  resolve,
  mayConnect: (address) => address === "127.0.0.1",
  isLoose: true,
});

const fetch = (url: string, network: Network, hosts: FetchRules["hosts"] = LISTED) =>
  fetchPublic({ url, maxBytes: 1_000 }, { hosts, network, timeoutMs: 5_000 });
async function reasonOf(fetching: Promise<unknown>): Promise<string> {
  try {
    await fetching;
    return "fetched";
  } catch (error) {
    if (error instanceof FetchFault) return error.reason;
    throw error;
  }
}

const CASES = TEXTS.length + HOSTS.length * 3 + NAMES.length * 2 + LOCATIONS.length;

test("the corpus has more than 300 cases, all of them different", () => {
  expect(TEXTS.length + HOSTS.length + NAMES.length + LOCATIONS.length).toBeGreaterThan(300);
  expect(CASES).toBeGreaterThan(500);
  expect(new Set(TEXTS.map(({ url }) => url)).size).toBe(TEXTS.length);
  expect(new Set(HOSTS.map(({ host }) => host)).size).toBe(HOSTS.length);
  expect(new Set(LOCATIONS.map(({ location }) => location)).size).toBe(LOCATIONS.length);
});

test("a disguised address is refused by its text, and its name is not looked up", async () => {
  lookups = 0;
  const wrong = [];
  for (const { about, url, reason } of TEXTS) {
    const actual = await reasonOf(fetch(url, strict()));
    if (actual !== reason) wrong.push({ about, url, reason, actual });
  }
  expect(wrong).toEqual([]);
  expect(lookups).toBe(0);
  expect(attempts).toEqual([]);
});

test("a private address is refused however it is written, even if its host is listed", async () => {
  const wrong = [];
  for (const { host } of HOSTS) {
    const listed = [new URL(`https://${host}/`).hostname];
    const actual = [
      await reasonOf(fetch(`https://${host}/`, strict(), listed)),
      await reasonOf(fetch(`http://${host}:${blockedPort}/`, loose(), listed)),
      await reasonOf(fetch(`https://${host}/`, strict())),
    ];
    if (actual.join() !== "address,address,host") wrong.push({ host, actual });
  }
  expect(wrong).toEqual([]);
  expect(attempts).toEqual([]);
});

test("a listed name is refused if any of its addresses is private", async () => {
  const wrong = [];
  for (const { about, lookups: answers, reason } of NAMES) {
    for (const network of [strict, loose]) {
      const resolve = resolving({ "weights.example": answers });
      const port = network === strict ? "" : `:${blockedPort}`;
      const scheme = network === strict ? "https" : "http";
      const actual = await reasonOf(fetch(`${scheme}://weights.example${port}/`, network(resolve)));
      if (actual !== reason) wrong.push({ about, answers, reason, actual });
    }
  }
  expect(wrong).toEqual([]);
  expect(attempts).toEqual([]);
});

describe("redirects", () => {
  const resolve = resolving({
    "weights.example": [["127.0.0.1"]],
    "inner.cdn.example": [["127.0.0.2"]],
    "mixed.cdn.example": [["127.0.0.1", "127.0.0.2"]],
  });

  test("a redirect of an allowed server leads to nothing that may not be fetched", async () => {
    const wrong = [];
    for (const { about, location: to, reason } of LOCATIONS) {
      location = to;
      attempts.length = 0;
      // Literal addresses are listed too, so that the address itself is judged.
      const hosts = [
        ...LISTED,
        "127.0.0.2",
        "127.0.0.1",
        "[::1]",
        "0.0.0.0",
        "[::ffff:7f00:2]",
        "169.254.169.254",
      ];
      const actual = await reasonOf(fetch(`http://weights.example:${good.port}/`, local(resolve), hosts));
      const elsewhere = attempts.filter((attempt) => attempt !== `127.0.0.1 ${good.port}`);
      if (actual !== reason || attempts.length !== 1 || elsewhere.length > 0)
        wrong.push({ about, to, reason, actual, attempts: [...attempts] });
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["http://weights.example/", "scheme"],
    ["//weights.example:8443/", "port"],
    ["https://weights.example:80/", "port"],
    ["https://evil.example/", "host"],
    ["//weights.example@evil.example/", "user_name"],
    ["//weights%2eexample/", "host"],
  ])("a redirect to %s is refused for the %s if http and ports are not allowed", (to, reason) => {
    const from = new URL("https://weights.example/a/b");
    expect(() => readPublicUrl(to, LISTED, strict(), from)).toThrow(
      expect.objectContaining({ reason }) as unknown as Error,
    );
  });

  test("a relative or absolute redirect to a listed host is allowed, and leads to the URL it names", () => {
    const from = new URL("https://weights.example/a/b");
    for (const [to, url] of [
      ["c", "https://weights.example/a/c"],
      ["/c?d=1", "https://weights.example/c?d=1"],
      ["?e", "https://weights.example/a/b?e"],
      ["//weights.example:443/f", "https://weights.example/f"],
      ["https://x.cdn.example/g#h", "https://x.cdn.example/g"],
      ["../../../i", "https://weights.example/i"],
      ["/@evil.example/", "https://weights.example/@evil.example/"],
    ] as const)
      expect(readPublicUrl(to, LISTED, strict(), from).href).toBe(url);
  });
});

test("the checked address is the one connected to, even if its name changes a moment later", async () => {
  lookups = 0;
  const resolve = resolving({ "weights.example": [["127.0.0.1"], ["127.0.0.2"], ["::1"]] });
  const { bytes } = await fetch(`http://weights.example:${good.port}/`, local(resolve));
  expect(Buffer.from(bytes).toString()).toBe("weights");
  expect(lookups).toBe(1);
  expect(attempts).toEqual([`127.0.0.1 ${good.port}`]);
});

test("each hop resolves its name again, and is judged by the new result", async () => {
  location = "/again";
  const resolve = resolving({ "weights.example": [["127.0.0.1"], ["127.0.0.2"]] });
  const url = `http://weights.example:${good.port}/`;
  await expect(fetch(url, local(resolve))).rejects.toMatchObject({ reason: "address", hop: 1 });
  expect(attempts).toEqual([`127.0.0.1 ${good.port}`]);
});

test("a proxy of the environment is not used", async () => {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  for (const name of names) process.env[name] = `http://127.0.0.1:${blockedPort}`;
  process.env.NODE_USE_ENV_PROXY = "1";
  try {
    const resolve = resolving({ "weights.example": [["127.0.0.1"]] });
    expect((await fetch(`http://weights.example:${good.port}/`, local(resolve))).status).toBe(200);
    expect(attempts).toEqual([`127.0.0.1 ${good.port}`]);
  } finally {
    for (const name of [...names, "NODE_USE_ENV_PROXY"]) delete process.env[name];
  }
});

describe("the listeners that count connections", () => {
  test("an allowed server is reached by its name and by its address", async () => {
    const resolve = resolving({ "weights.example": [["127.0.0.1"]], "a.b.cdn.example": [["127.0.0.1"]] });
    for (const host of ["weights.example", "a.b.cdn.example", "WEIGHTS.example"])
      expect((await fetch(`http://${host}:${good.port}/`, local(resolve))).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${good.port}/`, local(), ["127.0.0.1"])).status).toBe(200);
    expect(attempts).toEqual(Array(4).fill(`127.0.0.1 ${good.port}`));
  });

  test("port 443 is tried if other ports are not allowed", async () => {
    const network = { ...local(resolving({ "weights.example": [["127.0.0.1"]] })), isLoose: false };
    expect(await reasonOf(fetch("https://weights.example/", network))).not.toBe("fetched");
    expect(attempts).toEqual(["127.0.0.1 443"]);
  });

  test("the blocked listeners are reached if every address is allowed", async () => {
    const network = { ...local(), mayConnect: () => true };
    const url = `http://127.0.0.1:${blockedPort}/`;
    const { bytes } = await fetch(url, network, ["127.0.0.1"]);
    expect(Buffer.from(bytes).toString()).toBe("secret");
    expect(reached).toBe(1);
    reached = 0;
  });
});
