import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { networkAllowing } from "@/server/platform/http";
import { listen } from "@/testing/listener";
import { readSource, SourceFault, type SourceIo, type SourceRef, sourceIo, sourceOf } from ".";
import { headBytes, weights } from "./hub.fixture";

const io: SourceIo = {
  hub: { baseUrl: "https://huggingface.co", token: "hf_canary_0123456789" },
  rules: { hosts: ["huggingface.co", "files.example"], network: networkAllowing(false), timeoutMs: 5_000 },
};
const named = (query: string) => {
  const found = readSource(query, io);
  return found && [found.kind, found.ref, found.provider];
};

test.each([
  ["art_01hzy3v7q8r9s0t1v2w3x4y5z6", "service_artifact", "art_01hzy3v7q8r9s0t1v2w3x4y5z6", null],
  ["maker/moss", "huggingface", "maker/moss", null],
  ["https://huggingface.co/maker/moss", "huggingface", "maker/moss", null],
  [
    "https://files.example/a.safetensors?x=1#y",
    "provider_ref",
    "https://files.example/a.safetensors?x=1",
    null,
  ],
  ["replicate:maker/moss:1a2b", "provider_ref", "maker/moss:1a2b", "replicate"],
  [
    "fal:https://v3.fal.media/files/a.safetensors",
    "provider_ref",
    "https://v3.fal.media/files/a.safetensors",
    "fal",
  ],
])("%s is a source of the kind %s", (query, ...expected) => expect(named(query)).toEqual(expected));

test.each([
  "a mossy look",
  "moss",
  "https://evil.example/a.safetensors",
  "https://files.example/a.ckpt",
  "https://files.example/%zz.safetensors",
  "https://files.example.evil.example/a.safetensors",
  "javascript:alert(1)",
  "file:///etc/a.safetensors",
  "replicate:two words",
  "REPLICATE:x",
  "replicate:",
  "art_01",
])("%j is not a source", (query) => expect(named(query)).toBeNull());

test("the source of a reference reads the same reference from its text", () => {
  for (const query of [
    "maker/moss",
    "https://files.example/a.safetensors",
    "fal:x",
    "art_01hzy3v7q8r9s0t1v2w3x4y5z6",
  ]) {
    const ref = readSource(query, io);
    expect(ref && sourceOf(ref).read(query, io)).toEqual(ref);
  }
});

test("the default settings allow the Hub's hosts, and no private addresses", () => {
  const { hub, rules } = sourceIo();
  expect(hub.baseUrl).toBe("https://huggingface.co");
  expect(rules.hosts).toEqual(expect.arrayContaining(["huggingface.co", "*.hf.co"]));
  expect(rules.network.isLoose).toBe(false);
});

describe("a direct link", () => {
  const FILE = weights({ metadata: { "modelspec.title": "Moss" } });
  let server: Awaited<ReturnType<typeof listen>>;
  let status = 206;
  let file = FILE;
  const sent: { bytes: number; authorization: string | undefined }[] = [];
  beforeAll(async () => {
    server = await listen((request, _body, response) => {
      const [, first = "0", last = "0"] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      const part = status === 206 ? file.subarray(Number(first), Number(last) + 1) : Buffer.from("no");
      sent.push({ bytes: part.length, authorization: request.headers.authorization });
      response.writeHead(status, { "content-range": `bytes ${first}-${last}/${file.length}` });
      response.end(part);
    });
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    status = 206;
    file = FILE;
    sent.length = 0;
  });

  const through = (): SourceIo => ({
    ...io,
    hub: { baseUrl: `http://127.0.0.1:${server.port}`, token: "hf_canary_0123456789" },
    rules: { hosts: ["127.0.0.1"], network: networkAllowing(true), timeoutMs: 5_000 },
  });
  const ref = (): SourceRef => ({
    kind: "provider_ref",
    ref: `http://127.0.0.1:${server.port}/files/a%20moss.safetensors`,
    revision: null,
    filePath: null,
    provider: null,
  });
  const source = () => sourceOf(ref());

  test("a link is previewed by its header alone, without a credential, and never frozen", async () => {
    expect(await source().preview?.(ref(), through())).toMatchObject({
      files: [{ path: "a moss.safetensors", byteLength: FILE.length, sha256: null }],
      selectedFile: "a moss.safetensors",
      displayName: "Moss",
      baseModelFamily: "flux",
      revision: null,
      warnings: [expect.stringContaining("can change")],
    });
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(headBytes(FILE));
    expect(sent.every(({ authorization }) => authorization === undefined)).toBe(true);
    expect(await source().freeze?.(ref(), through())).toMatchObject({
      isFrozen: false,
      byteLength: FILE.length,
    });
  });

  test.each([
    [401, "no_access"],
    [403, "no_access"],
    [404, "not_found"],
    [410, "not_found"],
    [500, "unavailable"],
    [200, "unusable"],
  ])("status %i is reported as %s", async (answer, reason) => {
    status = answer;
    const caught = await source()
      .preview?.(ref(), through())
      .catch((thrown) => thrown);
    expect(caught).toBeInstanceOf(SourceFault);
    expect(caught).toMatchObject({ reason });
  });

  test("a link is healthy while its file keeps its length", async () => {
    const frozen = await source().freeze?.(ref(), through());
    const health = () => frozen && source().health?.(frozen, through());
    expect(await health()).toEqual({ status: "healthy", detail: null });
    file = weights({ rank: 4 });
    expect(await health()).toMatchObject({ status: "degraded" });
    status = 404;
    expect(await health()).toMatchObject({ status: "missing" });
    status = 503;
    expect(await health()).toMatchObject({ status: "unknown" });
  });
});
