import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { BAD_FILES, GOOD_FILES } from "@/testing/corpora/safetensors/bad-files";
import {
  checkHeader,
  checkPieces,
  checkSafetensors,
  RULES,
  SAFETENSORS_LIMITS,
  SafetensorsRefusal,
  type SafetensorsRule,
} from ".";
import { isGoodSlowly } from "./reference.fixture";

/** Larger files are fed whole and in random pieces, but not byte by byte. */
const SMALL = 256 * 1024;

async function* inPieces(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

/** Returns the rule that was broken, or null. */
async function ruleBrokenIn(run: Promise<unknown>): Promise<SafetensorsRule | null> {
  try {
    await run;
    return null;
  } catch (error) {
    if (!(error instanceof SafetensorsRefusal)) throw error;
    return error.rule;
  }
}

const check = (bytes: Buffer, lengths: readonly number[], expectedBytes?: number) =>
  ruleBrokenIn(
    checkSafetensors(inPieces(bytes, lengths), expectedBytes === undefined ? {} : { expectedBytes }),
  );

/** Random pieces, a hundred or so a file. */
const piecesOf = (bytes: Buffer) =>
  fc
    .array(fc.integer({ min: 0, max: Math.ceil(bytes.length / 50) + 2 }), { minLength: 2, maxLength: 40 })
    .filter((lengths) => lengths.reduce((sum, length) => sum + length, 0) > bytes.length / 200);

describe("the corpus", () => {
  test("every rule that a file of tensors can break has a file, and each file has a unique name", () => {
    expect(BAD_FILES.length).toBeGreaterThanOrEqual(60);
    expect(GOOD_FILES.length).toBeGreaterThanOrEqual(12);
    const names = [...BAD_FILES, ...GOOD_FILES].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const shown = new Set<SafetensorsRule>(BAD_FILES.map(({ rule }) => rule));
    expect(Object.keys(RULES).filter((rule) => !shown.has(rule as SafetensorsRule))).toEqual(["not_a_lora"]);
  });

  test.each(BAD_FILES)("$name breaks $rule, however it is split", async ({ rule, bytes: make }) => {
    const bytes = make();
    expect(await check(bytes, [bytes.length || 1])).toBe(rule);
    expect(await check(bytes, [bytes.length || 1], bytes.length)).toBe(rule);
    if (bytes.length <= SMALL) {
      expect(await check(bytes, [1])).toBe(rule);
      expect(await check(bytes, [1], bytes.length)).toBe(rule);
    }
    await fc.assert(
      fc.asyncProperty(piecesOf(bytes), async (lengths) => {
        expect(await check(bytes, lengths)).toBe(rule);
      }),
      campaign.runs(bytes.length <= SMALL ? { small: 8, full: 250 } : { small: 1, full: 20 }),
    );
    if (rule !== "polyglot") {
      expect(await ruleBrokenIn(checkHeader(bytes, bytes.length))).toBe(rule);
    }
    if (bytes.length <= SMALL) expect(isGoodSlowly(bytes)).toBe(false);
  });

  test.each(GOOD_FILES)("$name is accepted, however it is split", async ({ bytes: make }) => {
    const bytes = make();
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const whole = await checkSafetensors(inPieces(bytes, [bytes.length]));
    expect(whole).toMatchObject({ sha256, byteLength: bytes.length });
    expect(await checkHeader(bytes, bytes.length)).toEqual(whole.header);
    if (bytes.length <= SMALL) expect(await check(bytes, [1])).toBe(null);
    await fc.assert(
      fc.asyncProperty(piecesOf(bytes), async (lengths) => {
        const copy: Uint8Array[] = [];
        const checked = await checkSafetensors(inPieces(bytes, lengths), {
          expectedBytes: bytes.length,
          sink: async (pieces) => {
            for await (const piece of pieces) copy.push(piece.slice());
          },
        });
        expect(checked.sha256).toBe(sha256);
        expect(Buffer.concat(copy).equals(bytes)).toBe(true);
      }),
      campaign.runs(bytes.length <= SMALL ? { small: 8, full: 250 } : { small: 1, full: 20 }),
    );
    if (bytes.length <= SMALL) expect(isGoodSlowly(bytes)).toBe(true);
  });
});

describe("a file with changed bytes", () => {
  const small = GOOD_FILES.map(({ name, bytes }) => ({ name, bytes: bytes() })).filter(
    ({ bytes }) => bytes.length <= 32 * 1024,
  );

  test.each(small)(
    "changed bytes of $name are accepted only if a slow check accepts them",
    async ({ bytes }) => {
      const headerEnd = 8 + Number(bytes.readBigUInt64LE());
      const change = fc.record({
        kind: fc.constantFrom("flip", "insert", "delete", "digit", "swap"),
        at: fc.integer({ min: 0, max: headerEnd }),
        byte: fc.oneof(
          fc.integer({ min: 0, max: 255 }),
          fc.constantFrom(...Buffer.from('{}[],:"\\ 0123456789-.e')),
        ),
        keepsLength: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const changed = changes.reduce(applied, bytes);
          const rule = await check(changed, [4096]);
          expect(rule === null, String(rule)).toBe(isGoodSlowly(changed));
        }),
        campaign.runs({ small: 150, full: 4_000 }),
      );
    },
  );
});

type Change = { kind: string; at: number; byte: number; keepsLength: boolean };

function applied(bytes: Buffer, { kind, at, byte, keepsLength }: Change): Buffer {
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const one = Buffer.from([byte]);
  const changed =
    kind === "insert"
      ? Buffer.concat([before, one, after])
      : kind === "delete"
        ? Buffer.concat([before, after.subarray(1)])
        : kind === "swap"
          ? Buffer.concat([before, Buffer.from(after.subarray(0, 2)).reverse(), after.subarray(2)])
          : Buffer.concat([
              before,
              kind === "digit" ? Buffer.from([0x30 + (byte % 10)]) : one,
              after.subarray(1),
            ]);
  // The length prefix follows the change, so that more than the length is tested.
  const grown = changed.length - bytes.length;
  if (keepsLength && grown !== 0 && at >= 8 && changed.length >= 8) {
    changed.writeBigUInt64LE(BigInt.asUintN(64, changed.readBigUInt64LE() + BigInt(grown)));
  }
  return changed;
}

describe("a file of an announced length", () => {
  const bytes = GOOD_FILES[0]?.bytes() ?? Buffer.alloc(0);

  test("a file is refused as soon as its header contradicts the announced length", async () => {
    let read = 0;
    async function* counted() {
      for await (const piece of inPieces(bytes, [512])) {
        read += piece.byteLength;
        yield piece;
      }
    }
    expect(await ruleBrokenIn(checkSafetensors(counted(), { expectedBytes: bytes.length + 1 }))).toBe(
      "trailing_bytes",
    );
    expect(read).toBeLessThan(bytes.length);
  });

  test("a file that is announced as too large is refused before it is read", async () => {
    let isRead = false;
    async function* untouched() {
      isRead = true;
      yield bytes;
    }
    const tooMuch = { expectedBytes: SAFETENSORS_LIMITS.fileBytes + 1 };
    expect(await ruleBrokenIn(checkSafetensors(untouched(), tooMuch))).toBe("file_too_large");
    expect(isRead).toBe(false);
  });

  test.each([8, 100, 1000, 4096])(
    "a file above a limit of %i bytes is refused, however it is split",
    async (mostBytes) => {
      for (const length of [1, 7, bytes.length]) {
        const run = checkSafetensors(inPieces(bytes, [length]), { mostBytes });
        expect(await ruleBrokenIn(run)).toBe("file_too_large");
      }
    },
  );
});

test("a refusal has its rule and place, and a short message without control characters", async () => {
  const find = (name: string) => BAD_FILES.find((file) => file.name === name)?.bytes() ?? Buffer.alloc(0);
  const refusalOf = async (name: string) =>
    checkSafetensors(inPieces(find(name), [100])).then(
      () => null,
      (error: SafetensorsRefusal) => error,
    );
  expect(await refusalOf("one tensor twice, once escaped")).toMatchObject({
    rule: "duplicate_key",
    place: { byte: 8 + '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'.length },
  });
  expect(await refusalOf("overlap")).toMatchObject({ place: { tensor: "b" } });
  expect((await refusalOf("name with NUL"))?.message).toContain('"a\\u0000b"');
  for (const { name, bytes } of BAD_FILES) {
    if (bytes().length > SMALL) continue;
    const message = (await refusalOf(name))?.message ?? "";
    expect(message.length, name).toBeLessThan(400);
    expect(message, name).not.toMatch(/\p{Cc}/u);
  }
});

test("the source is closed when the file is refused, and when the sink fails", async () => {
  let closed = 0;
  async function* source(bytes: Buffer) {
    try {
      yield* inPieces(bytes, [16]);
    } finally {
      closed++;
    }
  }
  const broken = BAD_FILES.find(({ name }) => name === "JSON array")?.bytes() ?? Buffer.alloc(0);
  expect(await ruleBrokenIn(checkSafetensors(source(broken)))).toBe("header_first_byte");
  expect(closed).toBe(1);
  const good = GOOD_FILES[0]?.bytes() ?? Buffer.alloc(0);
  const sink = async (pieces: AsyncIterable<Uint8Array>) => {
    for await (const _ of pieces) throw new Error("The disk is full.");
  };
  await expect(checkSafetensors(source(good), { sink })).rejects.toThrow("The disk is full.");
  expect(closed).toBe(2);
});

test("a check whose sink stops early rejects", async () => {
  const good = GOOD_FILES[0]?.bytes() ?? Buffer.alloc(0);
  const sink = async (pieces: AsyncIterable<Uint8Array>) => {
    for await (const _ of pieces) break;
  };
  await expect(checkSafetensors(inPieces(good, [16]), { sink })).rejects.toThrow("did not read to its end");
});

test("the documentation lists exactly these rules", () => {
  const page = readFileSync("docs/reference/safetensors.md", "utf8");
  const published = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, rule, text]) => [rule, text]);
  expect(published).toEqual(Object.entries(RULES));
});

test("a callback may refuse the header before the tensors are read", async () => {
  const bytes = GOOD_FILES[0]?.bytes() ?? Buffer.alloc(0);
  let passed = 0;
  const run = async () => {
    const refusing = checkPieces(inPieces(bytes, [512]), {}, async () => {
      throw new Error("Not this one.");
    });
    for await (const piece of refusing) passed += piece.byteLength;
  };
  await expect(run()).rejects.toThrow("Not this one.");
  expect(passed).toBeLessThan(1024);
});
