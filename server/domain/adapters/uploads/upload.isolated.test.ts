/** @module-tag long */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ArtifactStore } from "@/server/domain/artifacts";
import { startS3 } from "@/server/domain/artifacts/s3.fixture";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import type * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { ulid } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { keyCtx, makeTenant, type Tenant } from "@/testing/api";
import { type Form, manyWeights, uploadOf } from "@/testing/forms";
import { uploadKilledAt } from "@/testing/processes";

/*
 * Checks what a refusal, a failure and a crash leave behind in the database and in each kind of store. Every
 * module is loaded anew with the settings of the store, as in a process of its own.
 */

const credentials = { accessKeyId: "AKUPLOAD", secretAccessKey: "a secret of these tests" };

type World = {
  settings: Record<string, string>;
  kept(): Promise<string[]>;
  unfinished(): Promise<string[]>;
  stop(): Promise<unknown>;
};

async function filesWorld(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-upload-"));
  const under = async (folder: string) => {
    const found = await readdir(join(directory, folder), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    return found.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const unfinished = () => under("artifacts/tmp");
  return {
    settings: { ARTIFACT_STORE: "files", CAPSTAN_DATA_DIR: directory },
    unfinished,
    async kept() {
      const temporary = await unfinished();
      return (await under("artifacts")).filter((name) => !temporary.includes(name));
    },
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}

async function s3World(): Promise<World> {
  const s3 = await startS3(credentials, "uploads");
  const isKept = (key: string) => key.startsWith("artifacts/");
  return {
    settings: {
      ARTIFACT_STORE: "s3",
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: "uploads",
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    kept: async () =>
      s3
        .keys()
        .filter(isKept)
        .map((key) => key.slice("artifacts/".length)),
    unfinished: async () => [...s3.keys().filter((key) => !isKept(key)), ...s3.openUploads()],
    stop: () => s3.stop(),
  };
}

describe.each([
  ["files", filesWorld],
  ["s3", s3World],
] as const)("an upload into %s", (_driver, open) => {
  let world: World;
  let store: ArtifactStore;
  let modules: typeof import("..");
  let pruning: typeof jobs;
  let tenant: Tenant;
  let ctx: Ctx;

  beforeAll(async () => {
    world = await open();
    for (const [name, value] of Object.entries(world.settings)) vi.stubEnv(name, value);
    vi.resetModules();
    modules = await import("..");
    pruning = await import("@/server/domain/jobs");
    store = (await import("@/server/domain/artifacts")).artifactStore();
  });
  beforeEach(async () => {
    tenant = await makeTenant();
    ctx = await keyCtx(tenant.key);
  });
  afterEach(async () => {
    expect(await world.unfinished()).toEqual([]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    vi.resetModules();
    await world.stop();
  });

  async function* inPieces(bytes: Buffer, upTo = bytes.length) {
    for (let at = 0; at < upTo; at += 65_536) yield bytes.subarray(at, Math.min(at + 65_536, upTo));
  }
  const upload = ({ bytes, contentType }: Form, more: Partial<Parameters<typeof modules.upload>[2]> = {}) =>
    modules.upload(
      ctx,
      {},
      { contentType, contentLength: String(bytes.length), bytes: inPieces(bytes), ...more },
    );
  async function rows() {
    const of = async (table: string) =>
      (await pool.query(`SELECT * FROM ${table} WHERE project_id = $1 ORDER BY id`, [tenant.projectId])).rows;
    return { artifacts: await of("artifact"), adapters: await of("model_adapter") };
  }
  const NOTHING = { artifacts: [], adapters: [] };

  test("uploaded weights are kept as long as other uploads, and as long as their adapter exists", async () => {
    const file = manyWeights(ulid(), 12);
    const adapter = await upload(uploadOf(file));
    expect(adapter.source).toMatchObject({ sha256: sha256Hex(file), byteLength: file.length });
    expect(await world.kept()).toContain(sha256Hex(file));
    const { artifacts } = await rows();
    const days = (artifacts[0].expires_at - artifacts[0].created_at) / DAY_MS;
    expect(days).toBeCloseTo(30, 3);
    const later = systemCtx("test", () => new Date(Date.now() + 31 * DAY_MS));
    await pruning.prune(later, tenant);
    expect(await world.kept()).toContain(sha256Hex(file));
    await modules.remove(ctx, adapter.adapterId);
    await pruning.prune(later, tenant);
    expect(await world.kept()).not.toContain(sha256Hex(file));
  });

  test.each([
    ["whose bytes break off", (form: Form) => ({ bytes: inPieces(form.bytes, 9 * 1024 ** 2) })],
    ["whose caller goes away", (form: Form) => ({ bytes: broken(form.bytes) })],
    [
      "whose last field is wrong",
      ({ bytes }: Form) => ({
        bytes: inPieces(
          Buffer.concat([
            bytes.subarray(0, bytes.lastIndexOf("--\r\n")),
            Buffer.from('\r\nContent-Disposition: form-data; name="colour"\r\n\r\nblue'),
            bytes.subarray(bytes.lastIndexOf("\r\n--")),
          ]),
        ),
      }),
    ],
  ])("an upload %s leaves nothing", async (_what, change) => {
    const kept = await world.kept();
    const form = uploadOf(manyWeights(ulid(), 12));
    await expect(upload(form, change(form))).rejects.toMatchObject({ issues: [expect.anything()] });
    expect(await rows()).toEqual(NOTHING);
    expect(await world.kept()).toEqual(kept);
  });

  async function* broken(bytes: Buffer) {
    yield* inPieces(bytes, 9 * 1024 ** 2);
    throw new Error("aborted");
  }

  /** Makes the database refuse to write adapters of this project, as a full disk would. */
  async function withoutAdapters(work: () => Promise<unknown>) {
    const name = `no_adapters_${ulid()}`;
    await pool.query(
      `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`,
    );
    await pool.query(
      `CREATE TRIGGER ${name} BEFORE INSERT ON model_adapter FOR EACH ROW
       WHEN (NEW.project_id = '${tenant.projectId}') EXECUTE FUNCTION ${name}()`,
    );
    try {
      await work();
    } finally {
      await pool.query(`DROP TRIGGER ${name} ON model_adapter`);
      await pool.query(`DROP FUNCTION ${name}`);
    }
  }

  test("a database failure after the bytes were stored leaves nothing", async () => {
    const kept = await world.kept();
    await withoutAdapters(async () => {
      for (const megabytes of [1, 12])
        await expect(upload(uploadOf(manyWeights(ulid(), megabytes)))).rejects.toThrow("the disk is full");
    });
    expect(await rows()).toEqual(NOTHING);
    expect(await world.kept()).toEqual(kept);
  });

  test("a database failure removes nothing from another upload of the same bytes", async () => {
    const file = manyWeights(ulid(), 1);
    const other = await makeTenant();
    const theirs = await modules.upload(await keyCtx(other.key), {}, sent(uploadOf(file)));
    await withoutAdapters(async () => {
      await expect(upload(uploadOf(file))).rejects.toThrow("the disk is full");
    });
    expect(await rows()).toEqual(NOTHING);
    expect(await store.stat(theirs.source.sha256 ?? "")).toMatchObject({ byteLength: file.length });
  });

  const sent = ({ bytes, contentType }: Form) => ({
    contentType,
    contentLength: String(bytes.length),
    bytes: inPieces(bytes),
  });

  test("a process killed amid the bytes, or before they are kept, leaves only what the sweep removes", async () => {
    const kept = await world.kept();
    for (const diesHalfWay of [true, undefined] as const) {
      const request = { projectId: tenant.projectId, seed: ulid(), megabytes: 12 };
      const ended = await uploadKilledAt(
        { ...request, ...(diesHalfWay && { diesHalfWay }) },
        "after-bytes-came",
        world.settings,
      );
      expect(ended).toBe("SIGKILL");
      expect(await rows()).toEqual(NOTHING);
      expect(await world.kept()).toEqual(kept);
      expect(await world.unfinished()).toHaveLength(1);
      expect(await store.sweepTemporary(new Date(Date.now() + HOUR_MS))).toBe(1);
    }
  });

  test("a process killed after the bytes were kept leaves an artifact that soon expires, and then nothing", async () => {
    const kept = await world.kept();
    const seed = ulid();
    const sha256 = sha256Hex(manyWeights(seed, 12));
    const request = { projectId: tenant.projectId, seed, megabytes: 12 };
    expect(await uploadKilledAt(request, "after-bytes-kept", world.settings)).toBe("SIGKILL");
    const { artifacts, adapters } = await rows();
    expect(adapters).toEqual([]);
    expect(artifacts).toMatchObject([{ sha256, pruned_at: null }]);
    expect(artifacts[0].expires_at - artifacts[0].created_at).toBe(HOUR_MS);
    expect(await world.kept()).toContain(sha256);
    const later = systemCtx("test", () => new Date(Date.now() + 2 * HOUR_MS));
    expect(await pruning.prune(later, tenant)).toMatchObject({ artifacts: 1, objects: 1 });
    expect(await world.kept()).toEqual(kept);
  });
});
