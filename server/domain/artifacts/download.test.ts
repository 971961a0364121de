import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Downloadable, type DownloadRequest, download, toContentDisposition } from "./download";
import { filesStore } from "./files";
import { collect, expectFault } from "./store.contract";
import type { ArtifactStore } from "./store-port";

let root: string;
let store: ArtifactStore;
const bytes = Buffer.from("0123456789");
const image: Downloadable = {
  sha256: "",
  byteLength: 10,
  mediaType: "image/png",
  filename: "a lighthouse.png",
};
const empty: Downloadable = { sha256: "", byteLength: 0, mediaType: "text/plain", filename: null };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-download-"));
  store = filesStore(root);
  image.sha256 = (await store.put(bytes)).sha256;
  empty.sha256 = (await store.put(Buffer.alloc(0))).sha256;
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function get(request: Partial<DownloadRequest> = {}, artifact = image) {
  const { status, headers, body } = await download(artifact, { method: "GET", ...request }, store);
  return { status, headers, text: body && (await collect(body)).toString() };
}

test("a download has the whole content, its name and its type, and headers that let it run nothing", async () => {
  const reply = await get();
  expect(reply).toEqual({
    status: 200,
    text: "0123456789",
    headers: {
      etag: `"${image.sha256}"`,
      "accept-ranges": "bytes",
      "cache-control": "private, max-age=31536000, immutable",
      "content-disposition": 'inline; filename="a lighthouse.png"',
      "content-length": "10",
      "content-security-policy": "sandbox; default-src 'none'",
      "content-type": "image/png",
      vary: "authorization, cookie, origin",
      "x-content-type-options": "nosniff",
    },
  });
});

test("a HEAD returns the headers of the whole and no body, whatever range it names", async () => {
  const whole = await get();
  for (const range of [undefined, "bytes=2-3", "bytes=99-"]) {
    expect(await get({ method: "HEAD", range })).toEqual({ ...whole, text: null });
  }
});

test("an empty artifact is a whole answer of length 0", async () => {
  const reply = await get({}, empty);
  expect(reply).toMatchObject({ status: 200, text: "", headers: { "content-length": "0" } });
});

test.each([
  ["bytes=0-0", "0", "0-0"],
  ["bytes=2-5", "2345", "2-5"],
  ["bytes=7-", "789", "7-9"],
  ["bytes=0-", "0123456789", "0-9"],
  ["bytes=8-400", "89", "8-9"],
  ["bytes=9-99999999999999999999999999", "9", "9-9"],
  ["bytes=-3", "789", "7-9"],
  ["bytes=-400", "0123456789", "0-9"],
  ["BYTES = 2 - 3", "23", "2-3"],
])("range %s gives %s", async (range, text, given) => {
  const { status, headers, text: sent } = await get({ range });
  expect({ status, sent, range: headers["content-range"], length: headers["content-length"] }).toEqual({
    status: 206,
    sent: text,
    range: `bytes ${given}/10`,
    length: String(text.length),
  });
  expect(headers.etag).toBe(`"${image.sha256}"`);
});

test.each(["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999999-"])(
  "range %s names no byte: 416 with the length",
  async (range) => {
    expect(await get({ range })).toEqual({
      status: 416,
      text: null,
      headers: {
        "accept-ranges": "bytes",
        "cache-control": "no-store",
        "content-length": "0",
        "content-range": "bytes */10",
      },
    });
  },
);

test.each([
  "bytes=0-1,4-5",
  "bytes=5-2",
  "bytes=",
  "bytes=-",
  "bytes=a-b",
  "bytes=1-2-3",
  "items=0-1",
  "0-1",
])("range %s is ignored and the whole is sent", async (range) => {
  const reply = await get({ range });
  expect(reply).toMatchObject({ status: 200, text: "0123456789" });
  expect(reply.headers).not.toHaveProperty("content-range");
});

test("for an empty artifact, the last bytes are the whole and every other range is unsatisfiable", async () => {
  expect((await get({ range: "bytes=-5" }, empty)).status).toBe(200);
  expect(await get({ range: "bytes=0-" }, empty)).toMatchObject({
    status: 416,
    headers: { "content-range": "bytes */0" },
  });
});

test("a caller that has the content gets 304, without opening it", async () => {
  const gone = { ...image, sha256: "0".repeat(64) };
  const etag = `"${gone.sha256}"`;
  for (const ifNoneMatch of [etag, `W/${etag}`, "*", `"other", ${etag}`, `"with, comma",W/${etag}`]) {
    for (const method of ["GET", "HEAD"]) {
      expect(await get({ method, ifNoneMatch, range: "bytes=0-1" }, gone)).toEqual({
        status: 304,
        text: null,
        headers: { etag, "cache-control": expect.stringContaining("immutable"), vary: expect.any(String) },
      });
    }
  }
});

test("an If-None-Match that does not name this content gets it", async () => {
  for (const ifNoneMatch of ['"other"', image.sha256, "", `"${image.sha256}x"`]) {
    expect((await get({ ifNoneMatch })).status, ifNoneMatch).toBe(200);
  }
});

test("an If-Match that does not name this content gets 412, whatever else the request names", async () => {
  const etag = `"${image.sha256}"`;
  for (const ifMatch of ['"other"', `W/${etag}`, `"other", W/${etag}`, image.sha256, `"${image.sha256}x"`])
    for (const method of ["GET", "HEAD"])
      expect(await get({ method, ifMatch, ifNoneMatch: etag, range: "bytes=99-" }), ifMatch).toMatchObject({
        status: 412,
        text: null,
      });
  for (const ifMatch of [etag, "*", ` ${etag}`, `W/"other",${etag}`, `"with, comma", ${etag}`, ""])
    expect((await get({ ifMatch })).status, ifMatch).toBe(200);
});

test("a range applies only to the content that If-Range names", async () => {
  const range = "bytes=0-1";
  expect((await get({ range, ifRange: `"${image.sha256}"` })).status).toBe(206);
  for (const ifRange of [`W/"${image.sha256}"`, '"other"', "Wed, 21 Oct 2015 07:28:00 GMT"]) {
    expect((await get({ range, ifRange })).text, ifRange).toBe("0123456789");
  }
  expect((await get({ range: "bytes=99-", ifRange: '"other"' })).status).toBe(200);
});

test("removed bytes are not found, whole or in part", async () => {
  const gone = { ...image, sha256: "0".repeat(64) };
  await expectFault(get({}, gone), "NotFound");
  await expectFault(get({ range: "bytes=0-1" }, gone), "NotFound");
});

test.each(["text/html", "image/svg+xml", "application/pdf", "image/png2", "text/html;image/png"])(
  "an artifact of type %s is saved, never shown",
  async (mediaType) => {
    const { headers } = await get({}, { ...image, mediaType });
    expect(headers["content-disposition"]).toMatch(/^attachment;/);
    expect(headers["content-type"]).toBe(mediaType);
  },
);

test.each(["", "png", "image/png\r\nset-cookie: a=b", "image/pñg", "a b/c", "image/png\0"])(
  "media type %j cannot be in a header and becomes plain bytes",
  async (mediaType) => {
    expect((await get({}, { ...image, mediaType })).headers["content-type"]).toBe("application/octet-stream");
  },
);

test.each([
  [null, "attachment"],
  ["", "attachment"],
  ["..", "attachment"],
  ["report.json", 'attachment; filename="report.json"'],
  ["/etc/passwd", 'attachment; filename="passwd"'],
  ["C:\\secret\\..\\a.txt", 'attachment; filename="a.txt"'],
  ['say "hi".txt', "attachment; filename=\"say _hi_.txt\"; filename*=UTF-8''say%20%22hi%22.txt"],
  ["50%.txt", "attachment; filename=\"50_.txt\"; filename*=UTF-8''50%25.txt"],
  ["Öl (1)'*.png", "attachment; filename=\"_l (1)'*.png\"; filename*=UTF-8''%C3%96l%20%281%29%27%2A.png"],
  ["灯台.png", "attachment; filename=\"__.png\"; filename*=UTF-8''%E7%81%AF%E5%8F%B0.png"],
  ["🗼.png", "attachment; filename=\"_.png\"; filename*=UTF-8''%F0%9F%97%BC.png"],
  ["half\ud83d.png", "attachment; filename=\"half_.png\"; filename*=UTF-8''half%EF%BF%BD.png"],
  ["a\r\nset-cookie: b=c\0.txt", 'attachment; filename="aset-cookie: b=c.txt"'],
  ["photo\u202egnp.exe", 'attachment; filename="photognp.exe"'],
])("the filename %j is sent in a safe form", (filename, header) => {
  expect(toContentDisposition("application/octet-stream", filename)).toBe(header);
});

test("a very long filename keeps its ending", () => {
  const header = toContentDisposition("image/png", `${"x".repeat(5000)}.png`);
  expect(header).toBe(`inline; filename="${"x".repeat(146)}.png"`);
});

test("every header of an artifact with an invalid media type and filename can be sent", async () => {
  const strange = { ...image, mediaType: "x\u0000/y", filename: '\u0000"\\\r\n%\ud800éß漢字\u202e.bin' };
  const { headers } = await get({}, strange);
  for (const [name, value] of Object.entries(headers)) {
    expect(value, name).toMatch(/^[\x20-\x7e]+$/);
    expect(new Headers({ [name]: value }).get(name)).toBe(value);
  }
});
