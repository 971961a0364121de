import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listen } from "@/testing/listener";
import { type FetchRequest, type FetchRules, fetchPublic, networkAllowing } from "./fetch-public";
import { isListedHost } from "./public-url";

const FILE = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 251));
const TOKEN = "Bearer hf_canary_9f8e7d6c5b4a";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;
let server: Awaited<ReturnType<typeof listen>>;
let other: Awaited<ReturnType<typeof listen>>;
let handle: Handle;
let handleOther: Handle;
const arrived: { at: string; url: string; headers: IncomingMessage["headers"] }[] = [];

beforeAll(async () => {
  server = await listen((request, _body, response) => {
    arrived.push({ at: "server", url: request.url ?? "", headers: request.headers });
    handle(request, response);
  });
  other = await listen((request, _body, response) => {
    arrived.push({ at: "other", url: request.url ?? "", headers: request.headers });
    handleOther(request, response);
  });
});
afterAll(async () => {
  await server.stop();
  await other.stop();
});
beforeEach(() => {
  arrived.length = 0;
  handle = serveFile;
  handleOther = serveFile;
});

/** Serves a file, and parts of it on request. */
const serveFile: Handle = (request, response) => {
  const asked = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  if (!asked) return void response.end(FILE);
  const [first, last] = [Number(asked[1]), Math.min(Number(asked[2]), FILE.length - 1)];
  response.writeHead(206, { "content-range": `bytes ${first}-${last}/${FILE.length}` });
  response.end(FILE.subarray(first, last + 1));
};
const redirect =
  (to: string, status = 302): Handle =>
  (_request, response) => {
    response.writeHead(status, { location: to });
    response.end("moved");
  };

const rules = (more: Partial<FetchRules> = {}): FetchRules => ({
  hosts: ["127.0.0.1"],
  network: networkAllowing(true),
  timeoutMs: 5_000,
  ...more,
});
const origin = () => `http://127.0.0.1:${server.port}`;
const fetch = (more: Partial<FetchRequest> = {}, under: Partial<FetchRules> = {}) =>
  fetchPublic({ url: `${origin()}/a`, maxBytes: 2_000, ...more }, rules(under));

test("a file arrives whole, and the request has only general headers and no fragment", async () => {
  const { status, bytes, url, totalBytes } = await fetch({ url: `${origin()}/a?b=c#d` });
  expect({ status, url, totalBytes }).toEqual({ status: 200, url: `${origin()}/a?b=c`, totalBytes: null });
  expect(FILE.equals(bytes)).toBe(true);
  expect(arrived).toEqual([
    {
      at: "server",
      url: "/a?b=c",
      headers: {
        host: `127.0.0.1:${server.port}`,
        connection: "keep-alive",
        accept: "*/*",
        "accept-encoding": "identity",
        "user-agent": "capstan",
      },
    },
  ]);
});

test("an error is returned without its body", async () => {
  handle = (_request, response) => {
    response.writeHead(404, { "x-error-code": "RepoNotFound" });
    response.end("words of the server");
  };
  const { status, bytes, header } = await fetch();
  expect([status, bytes.byteLength, header("x-error-code")]).toEqual([404, 0, "RepoNotFound"]);
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "a %i redirect is followed; the range is kept, the credential is not sent to others",
    async (status) => {
      handle = redirect(`http://127.0.0.1:${other.port}/signed?key=1`, status);
      const { bytes, url, totalBytes } = await fetch({
        range: { first: 0, last: 7 },
        credential: { origin: origin(), authorization: TOKEN },
      });
      expect([...bytes]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect([url, totalBytes]).toEqual([`http://127.0.0.1:${other.port}/signed?key=1`, 1_000]);
      expect(arrived.map(({ at, headers }) => [at, headers.authorization, headers.range])).toEqual([
        ["server", TOKEN, "bytes=0-7"],
        ["other", undefined, "bytes=0-7"],
      ]);
      expect(JSON.stringify(arrived[1])).not.toContain("canary");
    },
  );

  test("a redirect on the same server keeps the credential; after a redirect elsewhere it is not sent again", async () => {
    handle = (request, response) =>
      request.url === "/a"
        ? redirect("/b")(request, response)
        : request.url === "/b"
          ? redirect(`http://127.0.0.1:${other.port}/c`)(request, response)
          : serveFile(request, response);
    handleOther = redirect(`${origin()}/d`);
    await fetch({ credential: { origin: origin(), authorization: TOKEN } });
    expect(arrived.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/a", TOKEN],
      ["/b", TOKEN],
      ["/c", undefined],
      ["/d", undefined],
    ]);
  });

  test("a credential goes to its own origin only, from the start", async () => {
    await fetch({ credential: { origin: "https://127.0.0.1", authorization: TOKEN } });
    await fetch({ credential: { origin: `http://127.0.0.1:${other.port}`, authorization: TOKEN } });
    expect(arrived.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  test("three redirects are followed, a fourth and a loop are not", async () => {
    const chain =
      (length: number): Handle =>
      (request, response) => {
        const at = Number(/\d+$/.exec(request.url ?? "")?.[0] ?? 0);
        (at < length ? redirect(`/hop/${at + 1}`) : serveFile)(request, response);
      };
    handle = chain(3);
    expect((await fetch()).status).toBe(200);
    handle = chain(4);
    await expect(fetch()).rejects.toMatchObject({ reason: "redirects" });
    handle = redirect("/a");
    arrived.length = 0;
    await expect(fetch()).rejects.toMatchObject({ reason: "redirects", isPassing: false });
    expect(arrived).toHaveLength(4);
  });

  test("a redirect with an injected header fails", async () => {
    const raw = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.end("HTTP/1.1 302 Found\r\nlocation: /b\rx-injected: 1\r\ncontent-length: 0\r\n\r\n"),
      );
    });
    await new Promise<void>((listening) => raw.listen(0, "127.0.0.1", listening));
    const address = raw.address();
    const port = typeof address === "object" && address ? address.port : 0;
    try {
      await expect(fetch({ url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject({
        reason: expect.stringMatching(/^(location|lost)$/),
      });
    } finally {
      await new Promise((closed) => raw.close(closed));
    }
  });
});

describe("limits of a response", () => {
  const fault = async (next: Handle, more: Partial<FetchRequest> = {}, under: Partial<FetchRules> = {}) => {
    handle = next;
    const error = await fetch(more, under).catch((thrown) => thrown);
    return error.reason;
  };

  test("a response above the size limit is a fault, announced or not", async () => {
    expect((await fetch({ maxBytes: 1_000 })).bytes.byteLength).toBe(1_000);
    expect(await fault(serveFile, { maxBytes: 999 })).toBe("too_large");
    const unsaid: Handle = (_request, response) => {
      response.write(FILE);
      response.end(FILE);
    };
    expect(await fault(unsaid, { maxBytes: 1_999 })).toBe("too_large");
  });

  test("a compressed response is a fault", async () => {
    const zipped: Handle = (_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end("x");
    };
    expect(await fault(zipped)).toBe("encoding");
  });

  test("headers above the size limit are a fault", async () => {
    const wide: Handle = (_request, response) => {
      response.writeHead(200, { "x-wide": "x".repeat(40_000) });
      response.end("x");
    };
    expect(await fault(wide)).toBe("headers");
  });

  test("a response must be the requested part, or its beginning up to the file's end", async () => {
    const range = { first: 8, last: 15 };
    const part =
      (status: number, contentRange: string | null, bytes: Buffer): Handle =>
      (_request, response) => {
        response.writeHead(status, contentRange === null ? {} : { "content-range": contentRange });
        response.write(bytes); // without a length
        response.end();
      };
    expect(await fault(part(200, null, FILE), { range })).toBe("range");
    expect(await fault(part(200, "bytes 8-15/1000", FILE), { range })).toBe("range");
    expect(await fault(part(206, null, FILE.subarray(8, 16)), { range })).toBe("range");
    expect(await fault(part(206, "bytes 0-7/1000", FILE.subarray(0, 8)), { range })).toBe("range");
    expect(await fault(part(206, "bytes 8-15/1000", FILE.subarray(8, 12)), { range })).toBe("range");
    expect(await fault(part(206, "bytes 8-15/1000", FILE.subarray(8)), { range })).toBe("too_large");
    expect(await fault(part(206, "bytes 8-11/12", FILE.subarray(8, 12)), { range })).toBeUndefined();
  });

  test("a silent, dripping or slowly redirecting server meets one time limit for the whole fetch", async () => {
    const silent: Handle = () => {};
    const drip: Handle = (_request, response) => {
      const timer = setInterval(() => response.write("x"), 10);
      response.on("close", () => clearInterval(timer));
    };
    const slow: Handle = (request, response) => {
      setTimeout(() => redirect("/a")(request, response), 120);
    };
    for (const next of [silent, drip, slow])
      expect(await fault(next, {}, { timeoutMs: 300 })).toBe("timeout");
    const patience = new AbortController();
    handle = (_request, response) => {
      patience.abort();
      response.end();
    };
    expect((await fetch({}, { signal: patience.signal }).catch((thrown) => thrown)).reason).toBe("timeout");
    const network = { ...networkAllowing(true), resolve: () => new Promise<string[]>(() => {}) };
    const never = fetch({ url: "http://a.example/" }, { network, hosts: ["a.example"], timeoutMs: 50 });
    await expect(never).rejects.toMatchObject({ reason: "timeout", isPassing: true });
  });

  test("a broken answer is lost, and a refused connection is unreachable for now", async () => {
    const cut: Handle = (_request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("x", () => response.socket?.destroy());
    };
    expect(await fault(cut)).toBe("lost");
    const gone = await listen(() => {});
    await gone.stop();
    await expect(fetch({ url: `http://127.0.0.1:${gone.port}/` })).rejects.toMatchObject({
      reason: "unreachable",
      isPassing: true,
    });
  });
});

test.each([
  ["huggingface.co", "huggingface.co", true],
  ["cas-bridge.xethub.hf.co", "*.hf.co", true],
  ["us.aws.cdn.hf.co", "*.hf.co", true],
  ["hf.co", "*.hf.co", false],
  [".hf.co", "*.hf.co", false],
  ["xhf.co", "*.hf.co", false],
  ["hf.co.evil.example", "*.hf.co", false],
  ["huggingface.co.", "huggingface.co", false],
  ["x.huggingface.co", "huggingface.co", false],
])("the host %s matches the pattern %s: %s", (host, pattern, isListed) =>
  expect(isListedHost(host, [pattern])).toBe(isListed),
);
