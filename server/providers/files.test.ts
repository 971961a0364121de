import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getFile } from "./get-file";
import { caughtFault, type Script, startVendor, type Vendor } from "./testing/vendor";

let vendor: Vendor;
let elsewhere: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
  elsewhere = await startVendor();
});
afterAll(() => Promise.all([vendor.stop(), elsewhere.stop()]));

const io = (allowPrivateAddresses = true, signal = new AbortController().signal) => ({
  signal,
  allowPrivateAddresses,
});
const to = (location: string, status = 302): Script => ({ status, headers: { location }, text: "" });
const fetchFile = (path = "/file") => getFile(vendor.url + path, io());
const outcomeOf = async (call: Promise<unknown>) => {
  const { kind, submission } = await caughtFault(call);
  return `${kind}/${submission}`;
};

test("a file arrives with its type, and the request carries no credentials", async () => {
  vendor.answer({ headers: { "content-type": "Image/PNG; charset=binary" }, text: "PNG!" });
  const file = await fetchFile("/a/b.png?signature=1%2B2");
  expect([Buffer.from(file.bytes).toString(), file.mediaType, file.status]).toEqual([
    "PNG!",
    "image/png",
    200,
  ]);
  const [sent] = vendor.arrived;
  expect([sent?.method, sent?.path]).toEqual(["GET", "/a/b.png?signature=1%2B2"]);
  for (const name of ["authorization", "cookie", "x-api-key", "referer"])
    expect(sent?.headers[name]).toBeUndefined();
});

test("a compressed file is decoded up to the size limit", async () => {
  vendor.answer({ headers: { "content-encoding": "gzip" }, bytes: gzipSync("PNG!".repeat(1_000)) });
  expect((await fetchFile()).bytes.byteLength).toBe(4_000);
  const limited = getFile(`${vendor.url}/a`, io(), { maxResponseBytes: 3_999 });
  expect(await outcomeOf(limited)).toBe("failed/attempted");
});

describe("forbidden addresses", () => {
  test.each([
    "http://127.0.0.1:9/a",
    "https://127.0.0.1:9/a",
    "https://10.0.0.8/a",
    "https://192.168.1.1/a",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/a",
    "https://[fe80::1]/a",
    "https://[fd00::1]/a",
    "https://[::ffff:10.0.0.1]/a",
    "https://2130706433/a",
    "https://localhost/a",
    "https://files.localhost/a",
    "http://example.com/a",
    "ftp://example.com/a",
    "file:///etc/passwd",
    "https://user:word@example.com/a",
    "no address",
    "",
  ])("the address '%s' is refused", async (address) => {
    expect(await outcomeOf(getFile(address, io(false)))).toBe("failed/attempted");
  });

  test("a private address is not requested if private addresses are forbidden", async () => {
    vendor.answer({ text: "secret" });
    expect(await outcomeOf(getFile(`${vendor.url}/a`, io(false)))).toBe("failed/attempted");
    expect(vendor.arrived).toEqual([]);
  });
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "the status %i is followed, also to another origin",
    async (status) => {
      vendor.answer(to(`${elsewhere.url}/there?x=1`, status));
      elsewhere.answer({ text: "moved" });
      const { bytes } = await fetchFile();
      expect(Buffer.from(bytes).toString()).toBe("moved");
      expect(elsewhere.arrived.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ["/there?x=1", undefined],
      ]);
    },
  );

  test("three redirects are followed, including relative ones", async () => {
    vendor.answer(to("/1"), to("2"), to("?q=3"), { text: "found" });
    expect(Buffer.from((await fetchFile()).bytes).toString()).toBe("found");
    expect(vendor.arrived.map(({ path }) => path)).toEqual(["/file", "/1", "/2", "/2?q=3"]);
  });

  test("a fourth redirect is not followed", async () => {
    vendor.answer(to("/again"));
    expect(await outcomeOf(fetchFile())).toBe("failed/attempted");
    expect(vendor.arrived).toHaveLength(4);
  });

  test.each(["ftp://example.com/a", "file:///etc/passwd", "https://user:word@example.com/", "http://["])(
    "a redirect to %s is not followed",
    async (location) => {
      vendor.answer(to(location));
      expect(await outcomeOf(fetchFile())).toBe("failed/attempted");
      expect(vendor.arrived).toHaveLength(1);
    },
  );
});

describe("failed downloads", () => {
  test.each<[string, Script, string]>([
    ["gone", { status: 404, json: {} }, "failed/attempted"],
    ["forbidden", { status: 403, json: {} }, "failed/attempted"],
    ["a redirect to nowhere", { status: 302, text: "" }, "failed/attempted"],
    ["too many requests", { status: 429, json: {} }, "lost/ambiguous"],
    ["out of order", { status: 503, json: {} }, "lost/ambiguous"],
    ["a broken server", { status: 500, json: {} }, "lost/ambiguous"],
    ["cut off", "cut", "lost/ambiguous"],
    ["closed", "close", "lost/ambiguous"],
    ["reset", "reset", "lost/ambiguous"],
    [
      "encoded though we did not ask",
      { headers: { "content-encoding": "gzip" }, text: "x" },
      "failed/attempted",
    ],
  ])("a failed download has the expected fault: %s", async (_case, script, expected) => {
    vendor.answer(script);
    expect(await outcomeOf(fetchFile())).toBe(expected);
    expect(vendor.arrived).toHaveLength(1);
  });

  test("a download is lost if the connection is refused", async () => {
    expect(await outcomeOf(getFile("http://127.0.0.1:1/a", io()))).toBe("lost/ambiguous");
  });

  test("a download that our own signal ends is reported as aborted", async () => {
    vendor.answer("silent");
    const stop = new AbortController();
    const call = caughtFault(getFile(`${vendor.url}/a`, io(true, stop.signal)));
    await expect.poll(() => vendor.arrived.length).toBe(1);
    stop.abort();
    const fault = await call;
    expect([fault.kind, fault.details.aborted]).toEqual(["lost", true]);
  });
});

describe("size limits", () => {
  test("a file of exactly the limit is accepted, one byte more is refused", async () => {
    vendor.answer({ text: "12345678" });
    expect((await getFile(`${vendor.url}/a`, io(), { maxResponseBytes: 8 })).bytes).toHaveLength(8);
    expect(await outcomeOf(getFile(`${vendor.url}/a`, io(), { maxResponseBytes: 7 }))).toBe(
      "failed/attempted",
    );
  });

  test("an endless file is cut off at the limit", async () => {
    vendor.answer("endless");
    expect(await outcomeOf(getFile(`${vendor.url}/a`, io(), { maxResponseBytes: 1_000_000 }))).toBe(
      "failed/attempted",
    );
  });
});
