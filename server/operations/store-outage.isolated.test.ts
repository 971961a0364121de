import { afterAll, beforeEach, expect, test, vi } from "vitest";

// Set before any import: the artifacts of this file are in their own bucket.
const { s3, credentials } = await vi.hoisted(async () => {
  const { startS3 } = await import("@/server/domain/artifacts/s3.fixture");
  const credentials = { accessKeyId: "AKOUTAGE", secretAccessKey: "the secret of the outage" };
  const s3 = await startS3(credentials, "bucket-of-outages");
  Object.assign(process.env, {
    ARTIFACT_STORE: "s3",
    S3_BUCKET: "bucket-of-outages",
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  return { s3, credentials };
});

import { log } from "@/server/platform/log/log";
import { type Answer, makeTenant, type Tenant } from "@/testing/api";

let tenant: Tenant;
let path: string;
const recorded = vi.fn();
const child = log.child.bind(log);
vi.spyOn(log, "child").mockImplementation(
  (facts) => Object.assign(child(facts), { error: recorded }) as never,
); // has the members that requests use

const upload = (body: string) =>
  tenant.post("/v1/artifacts", body, { headers: { "content-type": "text/plain" } });

beforeEach(async () => {
  s3.setMood(() => undefined);
  tenant ??= await makeTenant();
  path ??= `/v1/artifacts/${(await upload("ten bytes.")).json.artifactId}`;
  recorded.mockClear();
});
afterAll(() => s3.stop());

function expectOutage({ status, headers, json }: Answer, logged: string) {
  expect(status).toBe(503);
  expect(headers["retry-after"]).toBe("5");
  expect(json.detail).toMatchObject({ code: "ServiceUnavailable", retryable: true, retryAfterSeconds: 5 });
  expect(recorded).toHaveBeenCalledTimes(1);
  const [{ err }] = recorded.mock.calls[0] as [{ err: Error }];
  expect(err.message).toContain(logged);
  expect(err.message).toContain("bucket-of-outages");
  for (const secret of Object.values(credentials))
    expect(`${err.message} ${err.stack}`).not.toContain(secret);
  recorded.mockClear();
}

test.each([
  [500, "rejected the request (500 "],
  [503, "rejected the request (503 "],
  [403, "rejected our credentials (403"],
])("while the bucket answers %i, uploads and downloads are 503 with Retry-After", async (status, logged) => {
  s3.setMood(() => status);
  expectOutage(await upload("more"), logged);
  expectOutage(await tenant.get(path), logged);
  s3.setMood((operation) => (operation === "GetObject" ? status : undefined));
  expectOutage(await tenant.get(path), logged);
  expectOutage(await tenant.get(path, { headers: { range: "bytes=2-4" } }), logged);
});

test("a download that breaks before its first byte is 503, and one that breaks later is cut off", async () => {
  s3.setMood((operation) => (operation === "GetObject" ? "mute" : undefined));
  expectOutage(await tenant.get(path), "cannot be reached");
  s3.setMood((operation) => (operation === "GetObject" ? "cut" : undefined));
  await expect(tenant.get(path)).rejects.toThrow("cannot be reached");
});

test("a range is served correctly from a bucket that ignores ranges", async () => {
  s3.setMood((operation) => (operation === "GetObject" ? "rangeless" : undefined));
  const { status, headers, text } = await tenant.get(path, { headers: { range: "bytes=4-8" } });
  expect([status, headers["content-range"], text]).toEqual([206, "bytes 4-8/10", "bytes"]);
});
