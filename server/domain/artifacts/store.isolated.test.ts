import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { artifactStore } from "./index";
import { s3Store } from "./s3";
import { startS3 } from "./s3.fixture";
import { collect } from "./store.contract";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** Loads this folder's modules again, with these settings in the environment. */
async function withSettings(settings: Record<string, string>) {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  vi.resetModules();
  return import("./index");
}

test("without settings, artifacts are files in the data directory", async () => {
  expect(artifactStore()).toBe(artifactStore());
  const { sha256 } = await artifactStore().put(Buffer.from("a file by default"));
  const path = join(
    process.env.CAPSTAN_DATA_DIR!,
    "artifacts",
    sha256.slice(0, 2),
    sha256.slice(2, 4),
    sha256,
  );
  expect((await stat(path)).size).toBe(17);
});

test("with S3 settings, artifacts are objects in a bucket", async () => {
  const credentials = { accessKeyId: "AKSET", secretAccessKey: "set by environment" };
  const s3 = await startS3(credentials, "chosen");
  try {
    const { artifactStore: chosen } = await withSettings({
      ARTIFACT_STORE: "s3",
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: "chosen",
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
    const { sha256 } = await chosen().put(Buffer.from("an object by choice"));
    expect(s3.keys()).toEqual([`artifacts/${sha256}`]);
    const other = s3Store({ ...credentials, bucket: "chosen", region: "us-east-1", endpoint: s3.endpoint });
    expect((await collect(await other.open(sha256))).toString()).toBe("an object by choice");
  } finally {
    await s3.stop();
  }
});

test("S3 without a bucket is refused with the name of the setting", async () => {
  const { artifactStore: chosen } = await withSettings({ ARTIFACT_STORE: "s3" });
  expect(() => chosen()).toThrow("S3_BUCKET");
});
