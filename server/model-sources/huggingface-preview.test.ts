import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MOST_BYTES } from "./budget";
import { headBytes, sha256, weights } from "./hub.fixture";
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

const allBytes = () => hub.asked.reduce((sum, { bytes }) => sum + bytes, 0);

describe("preview", () => {
  test("a preview of one file has its commit, file, family, words and license, and reads no byte of a tensor", async () => {
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

  test("the CDN gets the requested ranges after the redirect, and never the token", async () => {
    hub.repos["maker/moss"] = plain();
    await preview({}, io(TOKEN));
    const ofCdn = hub.asked.filter(({ at }) => at === "cdn");
    expect(ofCdn.map(({ range }) => range)).toEqual(["bytes=0-7", `bytes=8-${headBytes(FILE) - 1}`]);
    expect(ofCdn.every(({ authorization }) => authorization === undefined)).toBe(true);
    const ofHub = hub.asked.filter(({ at }) => at === "hub");
    expect(ofHub.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  });

  test("a preview of several files selects none, unless one is named", async () => {
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

  test("a preview of a truncated file list selects no file, but finds a file that is named", async () => {
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
  ] as const)("a preview of %s is refused with the reason", async (_name, files, words) => {
    hub.repos["maker/moss"] = repo(files);
    const { reason, message } = await fault(preview());
    expect([reason, message]).toEqual(["unusable", expect.stringMatching(words)]);
    expect(weightBytes()).toBeLessThanOrEqual(headBytes(FILE));
  });

  test("a preview resolves branches, tags and commits to their commit", async () => {
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

  test("a preview of a renamed repository has its new name, and says so", async () => {
    hub.repos["maker/old"] = { ...plain(), renamedTo: "maker/moss" };
    hub.repos["maker/moss"] = plain();
    const { source, warnings } = await preview({ ref: "maker/old" }, io(TOKEN));
    expect(source.ref).toBe("maker/moss");
    expect(warnings).toEqual(["The repository was renamed to maker/moss."]);
  });

  test("a gated repository is refused; a private one looks missing, or gets a warning if our token may read it", async () => {
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

  test("no family is proposed if card and file contradict each other", async () => {
    const card = CARD.replace('black-forest-labs/FLUX.1-dev"', 'stabilityai/stable-diffusion-xl-base-1.0"');
    hub.repos["maker/moss"] = repo({ "README.md": Buffer.from(card), "a.safetensors": FILE });
    const { baseModelFamily, warnings } = await preview();
    expect([baseModelFamily, warnings]).toEqual([
      null,
      ["The model card says sdxl, but the file looks like flux."],
    ]);
  });

  test("a preview of a hostile card has no words and no license, and the family of the file", async () => {
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

  test("a preview leaves out a card or a list that is too large", async () => {
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
