import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FrozenSource, SourceRef } from "./define";
import { type Answer, headBytes, sha256, weights } from "./hub.fixture";
import { readHubQuery } from "./hub-query";
import { huggingface } from "./huggingface";
import {
  CARD,
  FILE,
  fault,
  hub,
  io,
  NEW,
  OLD,
  openHub,
  plain,
  preview,
  ref,
  repo,
  TOKEN,
  weightBytes,
} from "./huggingface.fixture";

beforeAll(openHub);
afterAll(() => hub.stop());
beforeEach(() => hub.reset());

const freeze = (more: Partial<SourceRef> = {}, through = io()) => huggingface.freeze!(ref(more), through);
const health = (frozen: FrozenSource, through = io()) => huggingface.health!(frozen, through);

describe("readHubQuery", () => {
  const read = (query: string) => {
    const found = readHubQuery(query, "https://huggingface.co");
    return found && [found.ref, found.revision, found.filePath];
  };

  test.each([
    ["maker/moss", "maker/moss", null, null],
    ["  maker/moss ", "maker/moss", null, null],
    ["hf:maker/moss", "maker/moss", null, null],
    ["hf://maker/moss", "maker/moss", null, null],
    ["HF:maker/moss@v1", "maker/moss", "v1", null],
    ["hf://maker/moss@v1/sub/a.safetensors", "maker/moss", "v1", "sub/a.safetensors"],
    ["hf:maker/moss/a.safetensors", "maker/moss", null, "a.safetensors"],
    ["hf:maker/moss@refs%2Fpr%2F1", "maker/moss", "refs/pr/1", null],
    ["huggingface:models/maker/moss", "maker/moss", null, null],
    ["https://huggingface.co/maker/moss", "maker/moss", null, null],
    ["https://huggingface.co/maker/moss/", "maker/moss", null, null],
    ["https://www.huggingface.co/maker/moss?x=1#y", "maker/moss", null, null],
    ["https://hf.co/maker/moss", "maker/moss", null, null],
    ["https://huggingface.co/maker/moss/tree/main", "maker/moss", "main", null],
    ["https://huggingface.co/maker/moss/tree/main/sub", "maker/moss", "main", null],
    ["https://huggingface.co/maker/moss/tree/refs%2Fpr%2F1", "maker/moss", "refs/pr/1", null],
    ["https://huggingface.co/maker/moss/blob/main/a.safetensors", "maker/moss", "main", "a.safetensors"],
    [
      "https://huggingface.co/maker/moss/resolve/v1.0/s/a%20b.safetensors?download=true",
      "maker/moss",
      "v1.0",
      "s/a b.safetensors",
    ],
    [`https://huggingface.co/maker/moss/commit/${NEW}`, "maker/moss", NEW, null],
  ])("%s names a repository", (query, ...named) => expect(read(query)).toEqual(named));

  test.each([
    "moss",
    "a/b/c",
    "maker/moss@v1",
    "maker/mo ss",
    "../moss",
    "maker/..",
    "maker/moss.git",
    "maker/",
    "/moss",
    "hf:",
    "hf:maker",
    "hf:maker/moss@../..",
    "hf:maker/moss/../../x",
    "hf:maker/moss@%zz",
    "datasets/moss",
    "https://huggingface.co/datasets/maker/moss",
    "https://huggingface.co/spaces/maker/moss",
    "https://huggingface.co/maker",
    "https://huggingface.co/maker/moss/discussions/1",
    "https://huggingface.co/maker/moss/blob/main/%2e%2e/x.safetensors",
    "https://huggingface.co/maker/moss/blob/main/a%00.safetensors",
    "https://huggingface.co.evil.example/maker/moss",
    "https://evil.example/maker/moss",
    "https://me@huggingface.co/maker/moss",
    "ftp://huggingface.co/maker/moss",
    "",
  ])("%j names no repository", (query) => expect(read(query)).toBeNull());

  test("an address of a mirror names a repository only under the mirror's path", () => {
    const found = readHubQuery("https://mirror.example/hf/maker/moss/tree/v1", "https://mirror.example/hf/");
    expect(found).toMatchObject({ ref: "maker/moss", revision: "v1" });
    expect(readHubQuery("https://mirror.example/maker/moss", "https://mirror.example/hf")).toBeNull();
  });
});

describe("a faulty header", () => {
  test("a header that is too long to be read is skipped", async () => {
    const long = weights({ padding: 600_000 });
    hub.repos["maker/moss"] = repo({ "README.md": Buffer.from(CARD), "a.safetensors": long });
    const { baseModelFamily, warnings } = await preview();
    expect([baseModelFamily, weightBytes()]).toEqual(["flux", 8]);
    expect(warnings).toEqual([expect.stringContaining("too long")]);
  });

  test.each([
    ["a length beyond the limit", (file: Buffer) => void file.writeBigUInt64LE(1n << 60n)],
    ["a length of nothing", (file: Buffer) => void file.writeBigUInt64LE(0n)],
    ["a length past the end", (file: Buffer) => void file.writeBigUInt64LE(450_000n)],
    ["no JSON", (file: Buffer) => void file.fill(0x7b, 8, 40)],
    ["tensors past the end", (file: Buffer) => void file.write("9", file.indexOf('"data_offsets":[2,') + 16)],
  ])("%s is refused, and no byte of a tensor is read", async (_name, spoil) => {
    const file = Buffer.from(FILE);
    spoil(file);
    hub.repos["maker/moss"] = repo({ "a.safetensors": file });
    expect((await fault(preview())).reason).toBe("unusable");
    expect(weightBytes()).toBeLessThanOrEqual(headBytes(FILE));
  });

  test("a CDN that ignores the requested range, or lies about it, is refused", async () => {
    hub.repos["maker/moss"] = repo({ "a.safetensors": FILE });
    const lies: Answer[] = [
      { body: FILE },
      { status: 206, headers: { "content-range": `bytes 0-7/${FILE.length}` }, body: FILE },
      { status: 206, headers: { "content-range": "bytes 0-7/12345" }, body: FILE.subarray(0, 8) },
      {
        status: 206,
        headers: { "content-encoding": "gzip", "content-range": `bytes 0-7/${FILE.length}` },
        body: "x",
      },
    ];
    for (const answer of lies) {
      hub.answerOtherwise((path) => (path.startsWith("/blobs/") ? answer : undefined));
      expect(["unusable", "refused"]).toContain((await fault(preview())).reason);
    }
  });
});

describe("a Hub that fails", () => {
  test.each([
    ["busy", { status: 429 }, "unavailable"],
    ["down", { status: 503 }, "unavailable"],
    ["not itself", { body: "<html>" }, "unavailable"],
    ["of another shape", { body: JSON.stringify({ sha: "main" }) }, "unavailable"],
    ["led elsewhere", { status: 302, headers: { location: "http://evil.example/" } }, "refused"],
    [
      "led to the metadata of a cloud",
      { status: 307, headers: { location: "http://169.254.169.254/" } },
      "refused",
    ],
    ["disabled", { status: 403 }, "no_access"],
  ] as const)(
    "a preview from a Hub that is %s fails, and shows neither the token nor the Hub's words",
    async (_name, answer, reason) => {
      hub.repos["maker/moss"] = plain();
      hub.answerOtherwise((path) => (path.startsWith("/api/") ? { ...answer } : undefined));
      const answered = await fault(preview({}, io(TOKEN)));
      expect(answered.reason).toBe(reason);
      expect(`${answered.message} ${answered.stack}`).not.toMatch(/canary|words of the Hub/);
    },
  );

  test("a preview from a silent Hub fails as unavailable after the timeout", async () => {
    hub.repos["maker/moss"] = plain();
    hub.answerOtherwise(() => "silent");
    expect((await fault(preview({}, io(null, 200)))).reason).toBe("unavailable");
  });
});

describe("freeze", () => {
  test("freezing fixes the commit, file, digest and length, and the permanent address", async () => {
    hub.repos["maker/moss"] = plain();
    expect(await freeze({ revision: "main", filePath: "moss.safetensors" })).toEqual({
      source: ref({ revision: NEW, filePath: "moss.safetensors" }),
      isFrozen: true,
      sha256: sha256(FILE),
      byteLength: FILE.length,
      url: `${hub.url}/maker/moss/resolve/${NEW}/moss.safetensors`,
    });
    expect(weightBytes()).toBe(headBytes(FILE));
  });

  test("a repository without a named file stays unfrozen, even if it has only one", async () => {
    hub.repos["maker/moss"] = plain();
    expect(await freeze()).toMatchObject({ isFrozen: false, sha256: null, url: null });
    expect(weightBytes()).toBe(0);
  });

  test("a private or gated repository cannot be frozen, even if our token may read it", async () => {
    for (const more of [{ private: true }, { gated: "auto" as const }]) {
      hub.repos["maker/moss"] = plain(more);
      const answered = await fault(freeze({ filePath: "moss.safetensors" }, io(TOKEN)));
      expect(answered.reason).toBe("no_access");
    }
  });
});

describe("health", () => {
  const frozen = async () => {
    hub.repos["maker/moss"] = plain();
    const found = await freeze({ filePath: "moss.safetensors" });
    hub.asked.length = 0;
    return found;
  };

  test("weights that are still there are healthy, even after their branch moved on", async () => {
    const it = await frozen();
    hub.repos["maker/moss"] = {
      ...plain(),
      refs: { main: OLD },
      commits: { [NEW]: plain().commits[NEW]!, [OLD]: {} },
    };
    expect(await health(it, io(TOKEN))).toEqual({ status: "healthy", detail: null });
    expect(weightBytes()).toBe(8);
    // The check fetches without our token, as providers do.
    expect(
      hub.asked.filter(({ path }) => path.includes("/resolve/")).map((each) => each.authorization),
    ).toEqual([undefined]);
    expect(hub.asked.some(({ path }) => path.includes("/main"))).toBe(false);
  });

  test.each<[string, () => void, string]>([
    ["the repository is gone", () => delete hub.repos["maker/moss"], "missing"],
    ["the commit is gone", () => (hub.repos["maker/moss"] = { refs: {}, commits: {} }), "missing"],
    ["the file is gone", () => (hub.repos["maker/moss"] = repo({ "b.safetensors": FILE })), "missing"],
    ["it is gated now", () => (hub.repos["maker/moss"] = plain({ gated: "auto" })), "degraded"],
    ["it is private now", () => (hub.repos["maker/moss"] = plain({ private: true })), "missing"],
    [
      "the file is another",
      () => (hub.repos["maker/moss"] = repo({ "moss.safetensors": weights({ rank: 4 }) })),
      "degraded",
    ],
    ["the Hub is down", () => hub.answerOtherwise(() => ({ status: 502 })), "unknown"],
    ["the Hub is silent", () => hub.answerOtherwise(() => "silent"), "unknown"],
  ])(
    "the health has a status and a reason when %s, and no weights are read",
    async (_name, change, status) => {
      const it = await frozen();
      change();
      const answered = await health(it, io(null, 500));
      expect(answered).toEqual({ status, detail: expect.stringMatching(/\.$/) });
      expect(weightBytes()).toBe(0);
    },
  );
});
