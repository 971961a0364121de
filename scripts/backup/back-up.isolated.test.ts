import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { artifactStore, keepFromRemoval } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import { forgetVaultKeys } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { DAY_MS } from "@/server/platform/time/units";
import { setSettings } from "@/testing/settings";
import { inlineStep } from "@/testing/world";
import { type BackedUp, backUp } from "./back-up";
import { findSnapshot, readSnapshot } from "./manifest";
import { ARTIFACT, command, openWorld, type World } from "./original.fixture";

let world: World;
let backedUp: BackedUp;
beforeAll(async () => {
  world = await openWorld();
  backedUp = await backUp({ to: world.at("backup"), withArtifacts: true });
});
afterAll(() => world.close());

/** Path, mode and unpacked content of every file below a folder. */
function filesBelow(folder: string): { path: string; mode: number; content: Buffer }[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = readFileSync(path);
      return {
        path,
        mode: statSync(path).mode & 0o777,
        content: path.endsWith(".gz") ? gunzipSync(bytes) : bytes,
      };
    });
}

test("the files of a backup are for their owner only, and none has the vault key", () => {
  const files = filesBelow(world.at("backup"));
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter(({ mode }) => mode !== 0o600)).toEqual([]);
  const key = Buffer.from(env.CAPSTAN_VAULT_KEY ?? "", "base64");
  expect(key.length).toBe(32);
  const forms = [key, env.CAPSTAN_VAULT_KEY ?? "", key.toString("hex"), key.toString("base64url")];
  expect(files.filter(({ content }) => forms.some((form) => content.includes(form)))).toEqual([]);
  expect(files.map(({ content }) => content).some((content) => content.equals(ARTIFACT))).toBe(true);
});

test("a second backup without new artifacts copies none", async () => {
  const again = await backUp({ to: world.at("backup"), withArtifacts: true });
  expect(again.newArtifacts).toBe(0);
  expect(again.manifest.artifacts.count).toBe(backedUp.manifest.artifacts.count);
  rmSync(again.folder, { recursive: true });
});

test("a snapshot is of one moment, although work goes on while it is written", { tags: "long" }, async () => {
  const stop = new AbortController();
  const working = (async () => {
    while (!stop.signal.aborted)
      await jobs.run(world.original.ctx, await world.original.submit(), inlineStep(world.original.clock));
  })();
  const { manifest, folder } = await backUp({ to: world.at("moment"), withArtifacts: false });
  stop.abort();
  await working;
  const lines = (table: string) =>
    gunzipSync(readFileSync(join(folder, `${table}.copy.gz`)))
      .toString()
      .split("\n")
      .slice(0, -1);
  const columns = manifest.tables.find(({ name }) => name === "job")?.columns ?? [];
  const done = lines("job").filter((line) => line.split("\t")[columns.indexOf("status")] === "succeeded");
  expect(lines("receipt")).toHaveLength(done.length);
});

/** A changed copy of the snapshot. */
function changed(name: string, change: (folder: string) => void): string {
  const folder = world.at(name);
  cpSync(backedUp.folder, folder, { recursive: true });
  change(folder);
  return folder;
}

test.each<[string, (folder: string) => void, RegExp]>([
  [
    "a truncated table",
    (folder) => truncateSync(join(folder, "job.copy.gz"), 40),
    /job\.copy\.gz is missing, truncated or was changed\. Use another snapshot/,
  ],
  [
    "a changed table",
    (folder) => {
      const path = join(folder, "wallet.copy.gz");
      const bytes = readFileSync(path);
      bytes[bytes.length - 5]! ^= 1;
      writeFileSync(path, bytes);
    },
    /wallet\.copy\.gz is missing, truncated or was changed/,
  ],
  ["a lost table", (folder) => rmSync(join(folder, "receipt.copy.gz")), /receipt\.copy\.gz is missing/],
  [
    "a changed manifest",
    (folder) => {
      const path = join(folder, "manifest.json");
      writeFileSync(path, readFileSync(path, "utf8").replace('"missing": []', '"missing": ["x"]'));
    },
    /manifest\.json was changed after the backup\. Use another snapshot/,
  ],
  [
    "a truncated manifest",
    (folder) => truncateSync(join(folder, "manifest.json"), 900),
    /manifest\.json is damaged, or of a later version/,
  ],
])("a backup with %s is refused", async (name, change, sentence) => {
  await expect(readSnapshot(backedUp.folder)).resolves.toMatchObject({ format: 1 });
  const refused = readSnapshot(changed(name, change));
  await expect(refused).rejects.toThrow(sentence);
  await expect(refused).rejects.toBeInstanceOf(Refusal);
});

test("a wrong vault key is refused before anything is created", async () => {
  const settings = world.settingsOf("nowhere", {
    CAPSTAN_VAULT_KEY: Buffer.alloc(32, "another").toString("base64"),
  });
  const { code, out, error } = await command("restore", ["--from", world.at("backup")], settings);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(error).toMatch(/^CAPSTAN_VAULT_KEY: this backup needs vault key \S+, and this installation has/);
  expect(readdirSync(world.at("")).includes("nowhere")).toBe(false);
});

test("a snapshot can be read if its vault key is among the other keys", async () => {
  const key = env.CAPSTAN_VAULT_KEY ?? "";
  const fresh = Buffer.alloc(32, "another").toString("base64");
  setSettings({ CAPSTAN_VAULT_KEY: fresh, CAPSTAN_VAULT_OTHER_KEYS: [key] });
  forgetVaultKeys();
  await expect(readSnapshot(backedUp.folder)).resolves.toMatchObject({ format: 1 });
  setSettings({ CAPSTAN_VAULT_KEY: key, CAPSTAN_VAULT_OTHER_KEYS: [] });
  forgetVaultKeys();
});

test("findSnapshot returns the complete snapshot, also by its name, and refuses an unknown name", async () => {
  const name = backedUp.folder.split("/").at(-1)!;
  cpSync(backedUp.folder, world.at("backup/snapshots/.9999-incomplete"), { recursive: true });
  expect(await findSnapshot(world.at("backup"))).toBe(backedUp.folder);
  expect(await findSnapshot(world.at("backup"), name)).toBe(backedUp.folder);
  await expect(findSnapshot(world.at("backup"), "other")).rejects.toThrow(`It has: ${name}.`);
  await expect(findSnapshot(world.at("empty"))).rejects.toThrow("has no complete snapshot");
});

test("artifacts are not removed while a backup copies them, and two backups do not run at once", async () => {
  const copying = new pg.Client({ connectionString: env.DATABASE_URL });
  await copying.connect();
  expect(await keepFromRemoval(copying)).toBe(true);
  await expect(backUp({ to: world.at("second"), withArtifacts: true })).rejects.toThrow(/^Another backup/);
  const { sha256, artifactId, ctx } = world.original;
  await pool.query("UPDATE artifact SET expires_at = now() WHERE id = $1", [artifactId]);
  const later = { ...ctx, now: () => new Date(Date.now() + DAY_MS) };
  await jobs.prune(later);
  expect(await artifactStore().stat(sha256)).not.toBeNull();
  await copying.end();
  await jobs.prune(later);
  expect(await artifactStore().stat(sha256)).toBeNull();
});
