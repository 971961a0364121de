import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { networkOf } from "@/server/platform/http";
import { MOST_BYTES } from "./budget";
import type { FrozenSource, SourceFault, SourceIo, SourceRef } from "./define";
import { type Answer, commitOf, headBytes, type Repo, sha256, startHub, weights } from "./hub.fixture";
import { readHubQuery } from "./hub-query";
import { huggingface } from "./huggingface";

const TOKEN = "hf_canary_0123456789abcdef";
let hub: Awaited<ReturnType<typeof startHub>>;
beforeAll(async () => {
  hub = await startHub(TOKEN);
});
afterAll(() => hub.stop());
beforeEach(() => hub.reset());

const [OLD, NEW] = [commitOf("old"), commitOf("new")];
const CARD = `---
license: other
license_name: flux-1-dev-non-commercial-license
license_link: https://huggingface.co/black-forest-labs/FLUX.1-dev/blob/main/LICENSE.md
language:
  - en
tags:
  - flux
  - lora
base_model: "black-forest-labs/FLUX.1-dev"
instance_prompt: mossy stone, wet light
widget:
  - text: "-"
---

# Moss
`;
const FILE = weights({ metadata: { "modelspec.title": "Moss" } });
const repo = (files: Record<string, Buffer>, more: Partial<Repo> = {}): Repo => ({
  refs: { main: NEW },
  commits: { [NEW]: files },
  ...more,
});
const plain = (more: Partial<Repo> = {}) =>
  repo({ "README.md": Buffer.from(CARD), "moss.safetensors": FILE }, more);

const io = (token: string | null = null, timeoutMs = 10_000): SourceIo => ({
  hub: { baseUrl: hub.url, token },
  rules: { hosts: ["127.0.0.1"], network: networkOf(true), timeoutMs },
});
const ref = (more: Partial<SourceRef> = {}): SourceRef => ({
  kind: "huggingface",
  ref: "maker/moss",
  revision: null,
  filePath: null,
  provider: null,
  ...more,
});
const preview = (more: Partial<SourceRef> = {}, through = io()) => huggingface.preview!(ref(more), through);
const freeze = (more: Partial<SourceRef> = {}, through = io()) => huggingface.freeze!(ref(more), through);
const health = (frozen: FrozenSource, through = io()) => huggingface.health!(frozen, through);
async function fault(work: Promise<unknown>): Promise<SourceFault> {
  const error = await work.then(
    () => new Error("It succeeded."),
    (thrown) => thrown,
  );
  if (error?.name !== "SourceFault") throw error;
  return error;
}

/** What was sent of weights: never more than the head. */
const weightBytes = () =>
  hub.asked.filter(({ at }) => at === "cdn").reduce((sum, { bytes }) => sum + bytes, 0);
const allBytes = () => hub.asked.reduce((sum, { bytes }) => sum + bytes, 0);

describe("what a text names", () => {
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
  ])("%s", (query, ...named) => expect(read(query)).toEqual(named));

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
  ])("%j names nothing there", (query) => expect(read(query)).toBeNull());

  test("a mirror under a path has the same addresses", () => {
    const found = readHubQuery("https://mirror.example/hf/maker/moss/tree/v1", "https://mirror.example/hf/");
    expect(found).toMatchObject({ ref: "maker/moss", revision: "v1" });
    expect(readHubQuery("https://mirror.example/maker/moss", "https://mirror.example/hf")).toBeNull();
  });
});

describe("preview", () => {
  test("of one file: commit, file, family, words, license, and not a byte of a tensor", async () => {
    hub.repos["maker/moss"] = plain();
    expect(await preview()).toEqual({
      source: ref({ filePath: "moss.safetensors" }),
      revision: NEW,
      files: [{ path: "moss.safetensors", byteLength: FILE.length, sha256: sha256(FILE) }],
      selectedFile: "moss.safetensors",
      baseModelFamily: "flux",
      displayName: "Moss",
      recommendedWeight: null,
      triggerWords: ["mossy stone", "wet light"],
      licenseName: "flux-1-dev-non-commercial-license",
      licenseUrl: "https://huggingface.co/black-forest-labs/FLUX.1-dev/blob/main/LICENSE.md",
      warnings: [],
    });
    expect(weightBytes()).toBe(headBytes(FILE));
    expect(FILE.length).toBeGreaterThan(300_000);
    expect(allBytes()).toBeLessThan(MOST_BYTES);
  });

  test("keeps the part that is asked for across the redirect to the CDN, and leaves the token behind", async () => {
    hub.repos["maker/moss"] = plain();
    await preview({}, io(TOKEN));
    const ofCdn = hub.asked.filter(({ at }) => at === "cdn");
    expect(ofCdn.map(({ range }) => range)).toEqual(["bytes=0-7", `bytes=8-${headBytes(FILE) - 1}`]);
    expect(ofCdn.every(({ authorization }) => authorization === undefined)).toBe(true);
    const ofHub = hub.asked.filter(({ at }) => at === "hub");
    expect(ofHub.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  });

  test("of several files selects none, unless one is named", async () => {
    const other = weights({ rank: 8 });
    hub.repos["maker/moss"] = repo({ "a.safetensors": FILE, "steps/b.safetensors": other });
    const several = await preview();
    expect([several.selectedFile, several.files.map(({ path }) => path)]).toEqual([
      null,
      ["a.safetensors", "steps/b.safetensors"],
    ]);
    expect(several.warnings).toContain("The repository has several files that match. Name the one to use.");
    expect(weightBytes()).toBe(0);
    const named = await preview({ filePath: "steps/b.safetensors" });
    expect([named.selectedFile, named.baseModelFamily]).toEqual(["steps/b.safetensors", "flux"]);
    expect((await fault(preview({ filePath: "steps/c.safetensors" }))).reason).toBe("not_found");
    expect((await fault(preview({ filePath: "README.md" }))).reason).toBe("unusable");
  });

  test("of a long list that is cut off selects none, and still finds a file that is named", async () => {
    const files = Object.fromEntries(
      [...Array(5)].map((_, index) => [`images/${index}.png`, Buffer.alloc(1)]),
    );
    hub.repos["maker/moss"] = repo({ "a.safetensors": FILE, ...files, "z/b.safetensors": FILE });
    hub.listAtMost(3);
    const cut = await preview();
    expect([cut.selectedFile, cut.warnings[0]]).toEqual([
      null,
      "The repository has more files than could be listed.",
    ]);
    expect((await preview({ filePath: "z/b.safetensors" })).selectedFile).toBe("z/b.safetensors");
  });

  test.each([
    [
      "several parts",
      { "m-00001-of-00002.safetensors": FILE, "m-00002-of-00002.safetensors": FILE },
      /several parts/,
    ],
    ["pickles", { "lora.bin": FILE, "model.ckpt": FILE, "a.pt": FILE }, /contain code/],
    ["no weights", { "README.md": Buffer.from("# Hello") }, /no .safetensors/],
    ["nothing", {}, /no .safetensors/],
    ["a model, not a LoRA", { "a.safetensors": weights({ module: "x" }).fill(0x20, 8, 9) }, /not a LoRA/],
  ] as const)("of %s is refused with the reason", async (_name, files, words) => {
    hub.repos["maker/moss"] = repo(files);
    const { reason, message } = await fault(preview());
    expect([reason, message]).toEqual(["unusable", expect.stringMatching(words)]);
    expect(weightBytes()).toBeLessThanOrEqual(headBytes(FILE));
  });

  test("follows branches, tags and commits to the commit they are", async () => {
    hub.repos["maker/moss"] = {
      refs: { main: NEW, "v1.0": OLD, "refs/pr/1": OLD },
      commits: { [NEW]: { "new.safetensors": FILE }, [OLD]: { "old.safetensors": FILE } },
    };
    const frozen = async (revision: string | null) => {
      const { revision: commit, selectedFile } = await preview({ revision });
      return [commit, selectedFile];
    };
    expect(await frozen(null)).toEqual([NEW, "new.safetensors"]);
    expect(await frozen("main")).toEqual([NEW, "new.safetensors"]);
    expect(await frozen("v1.0")).toEqual([OLD, "old.safetensors"]);
    expect(await frozen("refs/pr/1")).toEqual([OLD, "old.safetensors"]);
    expect(await frozen(OLD)).toEqual([OLD, "old.safetensors"]);
    const { reason, message } = await fault(preview({ revision: "v9" }));
    expect([reason, message]).toEqual(["not_found", expect.stringContaining("branch, tag or commit")]);
  });

  test("of a renamed repository goes by its new name, and says so", async () => {
    hub.repos["maker/old"] = { ...plain(), renamedTo: "maker/moss" };
    hub.repos["maker/moss"] = plain();
    const { source, warnings } = await preview({ ref: "maker/old" }, io(TOKEN));
    expect(source.ref).toBe("maker/moss");
    expect(warnings).toEqual(["The repository was renamed to maker/moss."]);
  });

  test("of what is gated, private or not there", async () => {
    hub.repos["maker/gated"] = plain({ gated: "manual" });
    hub.repos["maker/private"] = plain({ private: true });
    const gated = await fault(preview({ ref: "maker/gated" }));
    expect([gated.reason, gated.message]).toEqual(["no_access", expect.stringContaining("gated")]);
    expect((await fault(preview({ ref: "maker/gated" }, io(TOKEN)))).reason).toBe("no_access");
    const hidden = await fault(preview({ ref: "maker/private" }));
    const missing = await fault(preview({ ref: "maker/none" }));
    expect([hidden.reason, missing.reason]).toEqual(["not_found", "not_found"]);
    expect(hidden.message).toBe(missing.message);
    const seen = await preview({ ref: "maker/private" }, io(TOKEN));
    expect(seen.warnings).toEqual([expect.stringContaining("providers cannot download")]);
  });

  test("where card and file contradict each other, no family is proposed", async () => {
    const card = CARD.replace('black-forest-labs/FLUX.1-dev"', 'stabilityai/stable-diffusion-xl-base-1.0"');
    hub.repos["maker/moss"] = repo({ "README.md": Buffer.from(card), "a.safetensors": FILE });
    const { baseModelFamily, warnings } = await preview();
    expect([baseModelFamily, warnings]).toEqual([
      null,
      ["The model card says sdxl, but the file looks like flux."],
    ]);
  });

  test("of a card that bites: what cannot be read is passed over", async () => {
    const bombs = [
      "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n---\n",
      `---\n${"[".repeat(30_000)}\n---\n`,
      "---\nbase_model: {__proto__: {x: 1}}\ninstance_prompt: [1, 2]\n---\n",
      "---\n!!js/function 'x'\n---\n",
      `---\nbase_model: ${"x".repeat(100_000)}\n---\n`,
      "---\nno end",
      "\u0000\u0001",
    ];
    for (const bomb of bombs) {
      hub.repos["maker/moss"] = repo({ "README.md": Buffer.from(bomb), "a.safetensors": FILE });
      const { triggerWords, licenseName, baseModelFamily } = await preview();
      expect([triggerWords, licenseName, baseModelFamily]).toEqual([[], null, "flux"]);
    }
  });

  test("of a card or list beyond all measure: nothing past the budget is read", async () => {
    hub.repos["maker/moss"] = repo({ "README.md": Buffer.alloc(2_000_000, 0x20), "a.safetensors": FILE });
    expect((await preview()).licenseName).toBeNull();
    const names = [...Array(9_000)].map(
      (_, index) => [`images/${index}`.padEnd(60, "x"), Buffer.alloc(0)] as const,
    );
    hub.repos["maker/moss"] = repo(Object.fromEntries(names));
    hub.listAtMost(10_000);
    const { selectedFile, files, warnings } = await preview();
    expect([selectedFile, files]).toEqual([null, []]);
    expect(warnings).toContain("The repository has more files than could be listed.");
  });
});

describe("headers that are not what they should be", () => {
  test("one too long to look at is left alone", async () => {
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
  ])("%s is refused before any tensor", async (_name, spoil) => {
    const file = Buffer.from(FILE);
    spoil(file);
    hub.repos["maker/moss"] = repo({ "a.safetensors": file });
    expect((await fault(preview())).reason).toBe("unusable");
    expect(weightBytes()).toBeLessThanOrEqual(headBytes(FILE));
  });

  test("a CDN that ignores what part is asked for, or lies about it, is not listened to", async () => {
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

describe("a Hub that is not well", () => {
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
  ] as const)("%s", async (_name, answer, reason) => {
    hub.repos["maker/moss"] = plain();
    hub.answerOtherwise((path) => (path.startsWith("/api/") ? { ...answer } : undefined));
    const answered = await fault(preview({}, io(TOKEN)));
    expect(answered.reason).toBe(reason);
    expect(`${answered.message} ${answered.stack}`).not.toMatch(/canary|words of the Hub/);
  });

  test("slow: it is not waited for without end", async () => {
    hub.repos["maker/moss"] = plain();
    hub.answerOtherwise(() => "silent");
    expect((await fault(preview({}, io(null, 200)))).reason).toBe("unavailable");
  });
});

describe("freeze", () => {
  test("fixes commit, file, digest and length, and the address that means them for ever", async () => {
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

  test("a repository alone stays unfrozen, even with one file only", async () => {
    hub.repos["maker/moss"] = plain();
    expect(await freeze()).toMatchObject({ isFrozen: false, sha256: null, url: null });
    expect(weightBytes()).toBe(0);
  });

  test("what providers cannot download is refused, whatever our token may see", async () => {
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

  test("of weights that are still there; a branch that moved on changes nothing", async () => {
    const it = await frozen();
    hub.repos["maker/moss"] = {
      ...plain(),
      refs: { main: OLD },
      commits: { [NEW]: plain().commits[NEW]!, [OLD]: {} },
    };
    expect(await health(it, io(TOKEN))).toEqual({ status: "healthy", detail: null });
    expect(weightBytes()).toBe(8);
    // As providers fetch it: without our token.
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
  ])("%s", async (_name, change, status) => {
    const it = await frozen();
    change();
    const answered = await health(it, io(null, 500));
    expect(answered).toEqual({ status, detail: expect.stringMatching(/\.$/) });
    expect(weightBytes()).toBe(0);
  });
});
