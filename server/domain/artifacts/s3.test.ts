import { randomBytes } from "node:crypto";
import {
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { s3Store } from "./s3";
import { startS3 } from "./s3.fixture";
import { collect, describeStore, expectFault, sha256, stream, zeros } from "./store.contract";
import type { ArtifactStore } from "./store-port";

const MiB = 1024 * 1024;
const credentials = { accessKeyId: "AKTEST", secretAccessKey: "a secret of this test" };
const bucket = "artifacts-of-tests";

let s3: Awaited<ReturnType<typeof startS3>>;
let store: ArtifactStore;

beforeAll(async () => {
  s3 = await startS3(credentials, bucket);
  store = s3Store({ ...credentials, bucket, region: "eu-central-1", endpoint: s3.endpoint });
});
afterAll(() => s3.stop());
beforeEach(() => {
  s3.setMood(() => undefined);
  s3.operations.length = 0;
});

const leftovers = async () => [
  ...s3.keys().filter((key) => !key.startsWith("artifacts/")),
  ...s3.openUploads(),
];

describeStore("s3", () => ({
  store,
  leftovers,
  crash: async () => {
    const client = new S3Client({
      region: "eu-central-1",
      endpoint: s3.endpoint,
      forcePathStyle: true,
      credentials,
    });
    for (let n = 0; n < 5; n++) {
      const Key = `tmp/half-${n}`;
      await client.send(
        new PutObjectCommand({ Bucket: bucket, Key: `${Key}-whole`, Body: "copied by no one" }),
      );
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
      await client.send(
        new UploadPartCommand({ Bucket: bucket, Key, UploadId, PartNumber: 1, Body: "a part" }),
      );
    }
    client.destroy();
  },
}));

test("small content takes one request, even as a stream", async () => {
  const bytes = randomBytes(5000);
  await store.put(bytes);
  await store.put(stream(bytes));
  expect(s3.operations).toEqual(["PutObject", "PutObject"]);
  expect(s3.keys()).toContain(`artifacts/${sha256(bytes)}`);
});

test.each(campaign.inTurn([5 * MiB - 1, 5 * MiB, 5 * MiB + 1, 10 * MiB, 13 * MiB], 2))(
  "content of %i bytes, at the edges of the parts, comes back whole",
  async (byteLength) => {
    const bytes = Buffer.alloc(byteLength, byteLength % 251);
    bytes.write(`edge ${byteLength}`, byteLength - 20);
    for (const source of [bytes, stream(bytes)]) {
      expect(await store.put(source)).toEqual({ sha256: sha256(bytes), byteLength });
    }
    expect(sha256(await collect(await store.open(sha256(bytes))))).toBe(sha256(bytes));
    expect(await leftovers()).toEqual([]);
  },
);

/** The message names the bucket and contains no credentials. */
const REFUSED = /^The bucket artifacts-of-tests rejected our credentials \(403 \w+\)\.$/;

test("wrong credentials are an error, not a missing artifact", async () => {
  const stranger = s3Store({
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: "another secret",
    bucket,
    region: "eu-central-1",
    endpoint: s3.endpoint,
  });
  const { sha256: name } = await store.put(Buffer.from("mine"));
  for (const act of [
    () => stranger.put(Buffer.from("x")),
    () => stranger.open(name),
    () => stranger.stat(name),
    () => stranger.remove(name),
  ]) {
    await expect(act()).rejects.toThrow(REFUSED);
  }
});

test("a server that is busy for a moment is asked again", async () => {
  let refusals = 0;
  s3.setMood((operation) => (operation === "PutObject" && refusals++ === 0 ? 503 : undefined));
  const bytes = randomBytes(100);
  await store.put(bytes);
  expect(refusals).toBe(2);
  expect(await collect(await store.open(sha256(bytes)))).toEqual(bytes);
});

test.each(["CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "CopyObject"])(
  "a stream whose %s is refused fails, stores nothing and leaves nothing",
  async (refused) => {
    s3.setMood((operation) => (operation === refused ? 403 : undefined));
    const before = s3.keys();
    const bytes = Buffer.alloc(20 * MiB, refused.length);
    await expect(store.put(stream(bytes))).rejects.toThrow(REFUSED);
    expect(s3.keys()).toEqual(before);
    expect(await leftovers()).toEqual([]);
  },
);

test("the first error is reported even if the cleanup fails too; the sweep cleans later", {
  tags: "long",
}, async () => {
  const broken = new Error("the caller hung up");
  s3.setMood((operation) => (operation === "AbortMultipartUpload" ? 403 : undefined));
  await expect(store.put(zeros(20 * MiB, broken))).rejects.toBe(broken);
  s3.setMood((operation) => (operation === "DeleteObject" ? 403 : undefined));
  const { sha256: name } = await store.put(stream(Buffer.alloc(9 * MiB, 3)));
  expect(await leftovers()).toHaveLength(2);

  s3.setMood(() => undefined);
  expect(await store.sweepTemporary(new Date(Date.now() + 60_000))).toBe(2);
  expect(await leftovers()).toEqual([]);
  expect(await store.stat(name)).toMatchObject({ byteLength: 9 * MiB });
});

test("a sweep of a store that cannot list multipart uploads removes temporary objects and does not fail", async () => {
  s3.setMood((operation) => (operation === "DeleteObject" ? 403 : undefined));
  await store.put(stream(Buffer.alloc(9 * MiB, 4)));
  const later = new Date(Date.now() + 60_000);
  s3.setMood((operation) => (operation === "ListMultipartUploads" ? 501 : undefined));
  expect(await store.sweepTemporary(later)).toBe(1);
  expect(await leftovers()).toEqual([]);
  s3.setMood((operation) => (operation === "ListMultipartUploads" ? 403 : undefined));
  await expect(store.sweepTemporary(later)).rejects.toThrow();
});

test("a download that breaks off in the middle is an error, never a short artifact", async () => {
  const { sha256: name } = await store.put(randomBytes(2 * MiB));
  s3.setMood((operation) => (operation === "GetObject" ? "cut" : undefined));
  await expect(collect(await store.open(name))).rejects.toThrow();
  await expect(collect(await store.open(name, { start: 10, end: MiB }))).rejects.toThrow();
});

test("in a missing bucket a put throws the bucket's error, and an open is NotFound", async () => {
  const elsewhere = s3Store({
    ...credentials,
    bucket: "no-such",
    region: "eu-central-1",
    endpoint: s3.endpoint,
  });
  await expect(elsewhere.put(Buffer.from("x"))).rejects.toThrow("404 NoSuchBucket");
  await expectFault(elsewhere.open("0".repeat(64)), "NotFound");
});

test("a server without ranges still yields the right bytes", async () => {
  const bytes = randomBytes(3 * MiB);
  const { sha256: name } = await store.put(bytes);
  s3.setMood((operation) => (operation === "GetObject" ? "rangeless" : undefined));
  for (const [start, end] of [
    [0, 0],
    [MiB - 1, 2 * MiB + 7],
    [3 * MiB - 1, 9 * MiB],
  ] as const)
    expect(sha256(await collect(await store.open(name, { start, end })))).toBe(
      sha256(bytes.subarray(start, end + 1)),
    );
  await expectFault(store.open(name, { start: 3 * MiB, end: 4 * MiB }), "RangeNotSatisfiable");
});
