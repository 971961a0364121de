import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOUR_MS } from "@/server/platform/time/units";
import { filesStore } from "./files";
import { collect, describeStore, sha256, stream } from "./store.contract";
import type { ArtifactStore } from "./store-port";

let root: string;
let store: ArtifactStore;

beforeAll(async () => {
  root = join(await mkdtemp(join(tmpdir(), "capstan-artifacts-")), "artifacts");
  store = filesStore(root);
});
afterAll(() => rm(join(root, ".."), { recursive: true, force: true }));

const temporaryFiles = () => readdir(join(root, "tmp")).catch(() => []);

describeStore("files", () => ({
  store,
  leftovers: temporaryFiles,
  crash: async () => {
    await mkdir(join(root, "tmp"), { recursive: true });
    await writeFile(join(root, "tmp", "half"), "half of some");
  },
}));

test("a file is stored under its SHA-256, readable by its owner alone", async () => {
  const bytes = Buffer.from("Where did it go?");
  const name = sha256(bytes);
  await store.put(stream(bytes));
  const path = join(root, name.slice(0, 2), name.slice(2, 4), name);
  expect(await readFile(path)).toEqual(bytes);
  if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("putting content again heals a file that was damaged", async () => {
  const bytes = Buffer.from("A disk may forget.");
  const name = sha256(bytes);
  await store.put(bytes);
  await writeFile(join(root, name.slice(0, 2), name.slice(2, 4), name), "A disk did.");
  await store.put(bytes);
  expect(await collect(await store.open(name))).toEqual(bytes);
});

test("a store whose directory was deleted keeps working", async () => {
  await store.put(Buffer.from("before"));
  await rm(root, { recursive: true });
  expect(await store.sweepTemporary(new Date())).toBe(0);
  const { sha256: name } = await store.put(Buffer.from("before"));
  expect((await collect(await store.open(name))).toString()).toBe("before");
});

test("a put whose temporary file was swept fails and stores nothing", async () => {
  async function* source() {
    yield Buffer.from("too slow");
    await store.sweepTemporary(new Date(Date.now() + HOUR_MS));
  }
  await expect(store.put(source())).rejects.toMatchObject({ name: "StoreOutage", cause: { code: "ENOENT" } });
  expect(await store.stat(sha256(Buffer.from("too slow")))).toBeNull();
});

test("a reader sees the whole content even if it is removed meanwhile", async () => {
  const { sha256: name, byteLength } = await store.put(Buffer.alloc(1_000_000, 1));
  const reader = await store.open(name);
  await store.remove(name);
  expect((await collect(reader)).byteLength).toBe(byteLength);
});

test("open files are closed by readers that end, leave or never start", async () => {
  if (process.platform !== "linux") return; // open files are counted in /proc
  const open = async () => (await readdir("/proc/self/fd")).length;
  const { sha256: name } = await store.put(Buffer.alloc(1_000_000, 2));
  const before = await open();
  for (let turn = 0; turn < 20; turn++) {
    await collect(await store.open(name));
    for await (const _ of await store.open(name)) break;
    await (await store.open(name))[Symbol.asyncIterator]().return?.();
    await store.open(name, { start: 2_000_000, end: 2_000_001 }).catch(() => {});
  }
  expect(await open()).toBeLessThanOrEqual(before);
});

test("a directory that cannot be used is a StoreOutage with the disk's error as its cause", async () => {
  const path = join(root, "..", "no-directory");
  await writeFile(path, "a file");
  const broken = filesStore(path);
  const outage = { name: "StoreOutage", cause: { code: expect.stringMatching(/^(ENOTDIR|EEXIST)$/) } };
  await expect(broken.put(Buffer.from("x"))).rejects.toMatchObject(outage);
  await expect(broken.open("0".repeat(64))).rejects.toMatchObject(outage);
  await expect(broken.stat("0".repeat(64))).rejects.toMatchObject(outage);
});
