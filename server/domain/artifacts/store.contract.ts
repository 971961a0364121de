import { createHash, randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { Fault } from "@/server/platform/errors/errors";
import { HOUR_MS } from "@/server/platform/time/units";
import type { ArtifactStore } from "./store-port";

/** A driver under test, with access to its internals. */
export type World = {
  store: ArtifactStore;
  /** Names of everything unfinished: temporary files or objects, open multipart uploads. */
  leftovers(): Promise<string[]>;
  /** Leaves behind what a put that was killed half-way leaves. */
  crash(): Promise<void>;
};

const MiB = 1024 * 1024;

/** The contract of the store, which every driver keeps. */
export function describeStore(name: string, world: () => World) {
  const store = () => world().store;

  describe(name, () => {
    test("stored bytes come back, byte for byte, under their SHA-256", async () => {
      const bytes = randomBytes(1000);
      const stored = await store().put(bytes);
      expect(stored).toEqual({ sha256: sha256(bytes), byteLength: 1000 });
      expect(await collect(await store().open(stored.sha256))).toEqual(bytes);
      expect(await store().stat(stored.sha256)).toMatchObject({ byteLength: 1000 });
      expect(await world().leftovers()).toEqual([]);
    });

    test("an empty source is stored as content of length 0", async () => {
      for (const source of [new Uint8Array(), stream(), stream(new Uint8Array())]) {
        const { sha256: name, byteLength } = await store().put(source);
        expect(byteLength).toBe(0);
        expect(await store().stat(name)).toMatchObject({ byteLength: 0 });
        expect(await collect(await store().open(name))).toEqual(Buffer.alloc(0));
        await expectFault(store().open(name, { start: 0, end: 0 }), "RangeNotSatisfiable", { byteLength: 0 });
      }
    });

    test("a stream in odd pieces is the same content as its bytes in one", async () => {
      const bytes = randomBytes(3 * MiB + 17);
      const sizes = [1, 0, 65_536, 262_143, 262_144, 262_145, 1_000_000, 7];
      const chunks: Uint8Array[] = [];
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const size = sizes[n % sizes.length]!;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(await store().put(stream(...chunks))).toEqual(await store().put(bytes));
      expect(sha256(await collect(await store().open(sha256(bytes))))).toBe(sha256(bytes));
    });

    test("a source that reuses its buffer is stored as it was at each turn", async () => {
      const shared = Buffer.alloc(100_000);
      const expected = createHash("sha256");
      async function* source() {
        for (let turn = 0; turn < 100; turn++) {
          shared.fill(turn);
          expected.update(shared);
          yield shared;
        }
      }
      const { sha256: name } = await store().put(source());
      expect(name).toBe(expected.digest("hex"));
      expect(sha256(await collect(await store().open(name)))).toBe(name);
    });

    test("the same content may be put again, and many times at once", async () => {
      const bytes = randomBytes(300_000);
      const puts = await Promise.all(
        Array.from({ length: 12 }, (_, n) => store().put(n % 2 ? bytes : stream(bytes))),
      );
      expect(new Set(puts.map((stored) => stored.sha256))).toEqual(new Set([sha256(bytes)]));
      expect(sha256(await collect(await store().open(sha256(bytes))))).toBe(sha256(bytes));
      expect(await world().leftovers()).toEqual([]);
    });

    test("a range returns its bytes, both ends included", async () => {
      const bytes = randomBytes(700_000);
      const { sha256: name } = await store().put(bytes);
      for (const [start, end] of [
        [0, 0],
        [0, 699_999],
        [699_999, 699_999],
        [1, 262_144],
        [262_143, 524_289],
      ] as const) {
        const part = await collect(await store().open(name, { start, end }));
        expect(part.equals(bytes.subarray(start, end + 1)), `${start}-${end}`).toBe(true);
      }
    });

    test("a range that ends after the last byte is cut there; one that begins there is refused", async () => {
      const bytes = randomBytes(100);
      const { sha256: name } = await store().put(bytes);
      expect(await collect(await store().open(name, { start: 90, end: 5000 }))).toEqual(bytes.subarray(90));
      await expectFault(store().open(name, { start: 100, end: 200 }), "RangeNotSatisfiable", {
        byteLength: 100,
      });
    });

    test("an invalid range is refused", async () => {
      const { sha256: name } = await store().put(randomBytes(100));
      for (const range of [
        { start: 5, end: 4 },
        { start: -1, end: 4 },
        { start: 0.5, end: 4 },
        { start: 0, end: Number.NaN },
      ]) {
        await expectFault(store().open(name, range), "RangeNotSatisfiable", { byteLength: 100 });
      }
    });

    test("missing content is not found, whatever the name looks like", async () => {
      const { sha256: kept } = await store().put(randomBytes(50));
      for (const name of [
        `${kept}/../${kept}`,
        sha256(randomBytes(9)),
        "",
        "../../etc/passwd",
        "A".repeat(64),
        "tmp",
        `${"a".repeat(64)}/..`,
      ]) {
        await expectFault(store().open(name), "NotFound");
        await expectFault(store().open(name, { start: 0, end: 1 }), "NotFound");
        expect(await store().stat(name)).toBeNull();
        await store().remove(name);
      }
    });

    test("removed content is gone, and may be stored again", async () => {
      const bytes = randomBytes(50);
      const { sha256: name } = await store().put(bytes);
      await store().remove(name);
      await store().remove(name);
      expect(await store().stat(name)).toBeNull();
      await expectFault(store().open(name), "NotFound");
      await store().put(bytes);
      expect(await collect(await store().open(name))).toEqual(bytes);
    });

    test("content above the limit is refused, the source is closed, and nothing is left", async () => {
      const bytes = randomBytes(2 * MiB);
      const source = watched(bytes.subarray(0, MiB), bytes.subarray(MiB), randomBytes(MiB));
      await expectFault(store().put(source.stream, { maxBytes: 2 * MiB - 1 }), "PayloadTooLarge", {
        maxBytes: 2 * MiB - 1,
      });
      expect(source.seen()).toEqual({ given: 2, closed: true });
      await expectFault(store().put(bytes, { maxBytes: 2 * MiB - 1 }), "PayloadTooLarge");
      expect(await store().stat(sha256(bytes))).toBeNull();
      expect(await world().leftovers()).toEqual([]);

      expect(await store().put(stream(bytes), { maxBytes: 2 * MiB })).toMatchObject({ byteLength: 2 * MiB });
    });

    test.each([
      ["at once", 0],
      ["early", 1 * MiB],
      ["late", 40 * MiB],
    ])("a source that breaks off %s gives its own error and leaves nothing", async (_, after) => {
      const broken = new Error("the caller hung up");
      await expect(store().put(zeros(after, broken))).rejects.toBe(broken);
      expect(await world().leftovers()).toEqual([]);
    });

    test("storing and reading 64 MiB needs less than 32 MiB of memory", async () => {
      const total = 64 * MiB;
      const memory = watchMemory();
      async function* source() {
        for (let at = 0; at < total; at += MiB) {
          yield Buffer.alloc(MiB, at / MiB);
          if (at % (4 * MiB) === 0) memory.look();
        }
      }
      const { sha256: name, byteLength } = await store().put(source());
      expect(byteLength).toBe(total);

      const hash = createHash("sha256");
      let seen = 0;
      for await (const chunk of await store().open(name)) {
        hash.update(chunk);
        const before = seen;
        seen += chunk.byteLength;
        if (Math.floor(before / (4 * MiB)) < Math.floor(seen / (4 * MiB))) memory.look();
      }
      expect(hash.digest("hex")).toBe(name);
      expect(memory.peakBytes()).toBeLessThan(32 * MiB);
      await store().remove(name);
    });

    test("a reader may leave before, in and after the middle, and may return twice", async () => {
      const { sha256: name } = await store().put(randomBytes(3 * MiB));
      for (const turns of [0, 1, 3]) {
        const reader = (await store().open(name))[Symbol.asyncIterator]();
        for (let turn = 0; turn < turns; turn++) await reader.next();
        await reader.return?.();
        await reader.return?.();
        expect((await reader.next()).done).toBe(true);
      }
    });

    test("the sweep removes what a crash left behind, but nothing younger and no content", async () => {
      const bytes = randomBytes(10);
      const { sha256: name } = await store().put(bytes);
      await world().crash();
      const left = await world().leftovers();
      expect(left.length).toBeGreaterThan(0);

      expect(await store().sweepTemporary(new Date(Date.now() - HOUR_MS))).toBe(0);
      expect(await world().leftovers()).toEqual(left);
      expect(await store().sweepTemporary(new Date(Date.now() + HOUR_MS))).toBe(left.length);
      expect(await world().leftovers()).toEqual([]);
      expect(await collect(await store().open(name))).toEqual(bytes);
    });
  });
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function* stream(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Yields this number of zero bytes (in whole MiB), then throws the error. */
export async function* zeros(byteLength: number, error: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < byteLength; at += MiB) yield Buffer.alloc(MiB);
  throw error;
}

export async function expectFault(
  promise: Promise<unknown>,
  code: string,
  details?: Record<string, unknown>,
) {
  const fault = await promise.then(
    () => undefined,
    (error: Fault) => error,
  );
  expect(fault).toMatchObject(details ? { name: "Fault", code, details } : { name: "Fault", code });
}

/** A stream that records how many chunks it gave and whether it was closed. */
function watched(...chunks: Uint8Array[]) {
  let given = 0;
  let closed = false;
  async function* give() {
    try {
      for (const chunk of chunks) {
        given++;
        yield chunk;
      }
    } finally {
      closed = true;
    }
  }
  return { stream: give(), seen: () => ({ given, closed }) };
}

/** Peak of the memory that buffers and objects hold: garbage is collected before each look. */
function watchMemory() {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const held = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  let peak = 0;
  return {
    look: () => {
      peak = Math.max(peak, held() - before);
    },
    peakBytes: () => peak,
  };
}
