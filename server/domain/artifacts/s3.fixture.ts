import { createHash, createHmac, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

type StoredFile = { path: string; byteLength: number; at: Date; etag: string };
type Upload = { key: string; at: Date; parts: Map<number, StoredFile> };

/**
 * The answer of the server to a request: the status of a refusal, `cut` after half of the body, `mute`
 * without a body, `rangeless`, or undefined for the usual one.
 */
export type Mood = (operation: string, key: string) => number | "cut" | "mute" | "rangeless" | undefined;

const MIN_PART_BYTES = 5 * 1024 * 1024;

/**
 * An S3 server for one bucket, as far as the documentation goes: path style, signature version 4 verified
 * with the body's hash, ranges, multipart uploads with the rules on parts, copies, paged lists (two entries a
 * page). Bytes are in files, so that a large object does not count toward the memory of the test.
 */
export async function startS3(credentials: { accessKeyId: string; secretAccessKey: string }, bucket: string) {
  const directory = await mkdtemp(join(tmpdir(), "capstan-s3-"));
  const objects = new Map<string, StoredFile>();
  const uploads = new Map<string, Upload>();
  const operations: string[] = [];
  let mood: Mood = () => undefined;

  async function receive(request: IncomingMessage): Promise<StoredFile> {
    const path = join(directory, randomUUID());
    const sha256 = createHash("sha256");
    const md5 = createHash("md5");
    let byteLength = 0;
    await pipeline(
      request,
      async function* (source: AsyncIterable<Buffer>) {
        for await (const chunk of source) {
          sha256.update(chunk);
          md5.update(chunk);
          byteLength += chunk.byteLength;
          yield chunk;
        }
      },
      createWriteStream(path),
    );
    const digest = sha256.digest();
    const signed = request.headers["x-amz-content-sha256"];
    if (signed !== "UNSIGNED-PAYLOAD" && signed !== digest.toString("hex"))
      throw refusal(400, "XAmzContentSHA256Mismatch");
    const checksum = request.headers["x-amz-checksum-sha256"];
    if (checksum !== undefined && checksum !== digest.toString("base64")) throw refusal(400, "BadDigest");
    return { path, byteLength, at: new Date(), etag: `"${md5.digest("hex")}"` };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://s3");
    const [, bucketName, ...rest] = url.pathname.split("/");
    const key = rest.map(decodeURIComponent).join("/");
    const query = url.searchParams;
    const operation = nameOf(request, query, key);
    operations.push(operation);
    if (!isSigned(request, credentials)) throw refusal(403, "SignatureDoesNotMatch");
    if (bucketName !== bucket) throw refusal(404, "NoSuchBucket");
    const asked = mood(operation, key);
    if (typeof asked === "number") throw refusal(asked, "Forced");

    switch (operation) {
      case "PutObject": {
        const file = await receive(request);
        objects.set(key, file);
        response.setHeader("etag", file.etag).end();
        return;
      }
      case "HeadObject":
      case "GetObject": {
        const file = objects.get(key);
        if (!file) throw refusal(404, "NoSuchKey");
        const range = asked === "rangeless" ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
        const start = range ? Number(range[1]) : 0;
        const end = range ? Math.min(Number(range[2]), file.byteLength - 1) : file.byteLength - 1;
        if (range && start >= file.byteLength) throw refusal(416, "InvalidRange");
        response.writeHead(range ? 206 : 200, {
          etag: file.etag,
          "last-modified": file.at.toUTCString(),
          "content-length": end - start + 1,
          ...(range ? { "content-range": `bytes ${start}-${end}/${file.byteLength}` } : {}),
        });
        if (operation === "HeadObject" || file.byteLength === 0) response.end();
        else if (asked === "mute") {
          response.flushHeaders();
          response.destroy();
        } else if (asked === "cut") {
          const half = (await readFile(file.path)).subarray(start, start + Math.floor((end - start) / 2));
          response.write(half, () => response.destroy());
        } else {
          await pipeline(createReadStream(file.path, { start, end }), response).catch(() => {}); // the reader left
        }
        return;
      }
      case "DeleteObject":
        objects.delete(key);
        response.writeHead(204).end();
        return;
      case "CopyObject": {
        const [, fromBucket, ...fromKey] =
          `/${decodeURIComponent(String(request.headers["x-amz-copy-source"]))}`.split("/");
        const file = fromBucket === bucket ? objects.get(fromKey.join("/")) : undefined;
        if (!file) throw refusal(404, "NoSuchKey");
        objects.set(key, { ...file, at: new Date() });
        xml(response, `<CopyObjectResult><ETag>${file.etag}</ETag></CopyObjectResult>`);
        return;
      }
      case "CreateMultipartUpload": {
        const id = randomUUID();
        uploads.set(id, { key, at: new Date(), parts: new Map() });
        xml(
          response,
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        );
        return;
      }
      case "UploadPart": {
        const file = await receive(request);
        uploadOf(query, key).parts.set(Number(query.get("partNumber")), file);
        response.setHeader("etag", file.etag).end();
        return;
      }
      case "CompleteMultipartUpload": {
        const upload = uploadOf(query, key);
        const body = await readFile((await receive(request)).path, "utf8");
        const named = [...body.matchAll(/<Part>.*?<\/Part>/gs)].map(([part]) => ({
          number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
          etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll("&quot;", '"'),
        }));
        const path = join(directory, randomUUID());
        for (const [index, { number, etag }] of named.entries()) {
          const part = upload.parts.get(number);
          if (!part || part.etag !== etag) throw refusal(400, "InvalidPart");
          if (index > 0 && number <= named[index - 1]!.number) throw refusal(400, "InvalidPartOrder");
          if (index < named.length - 1 && part.byteLength < MIN_PART_BYTES)
            throw refusal(400, "EntityTooSmall");
          await appendFile(path, await readFile(part.path));
        }
        const { size } = await stat(path);
        objects.set(key, {
          path,
          byteLength: size,
          at: new Date(),
          etag: `"${randomUUID()}-${named.length}"`,
        });
        uploads.delete(query.get("uploadId") ?? "");
        xml(response, "<CompleteMultipartUploadResult><ETag>whole</ETag></CompleteMultipartUploadResult>");
        return;
      }
      case "AbortMultipartUpload":
        uploadOf(query, key);
        uploads.delete(query.get("uploadId") ?? "");
        response.writeHead(204).end();
        return;
      case "ListObjectsV2": {
        const keys = [...objects.keys()].filter((name) => name.startsWith(query.get("prefix") ?? "")).sort();
        const { page, next } = pageOf(keys, (name) => name, query.get("continuation-token"));
        const entries = page.map(
          (name) =>
            `<Contents><Key>${name}</Key><LastModified>${objects.get(name)?.at.toISOString()}</LastModified></Contents>`,
        );
        const more = next ? `<NextContinuationToken>${next}</NextContinuationToken>` : "";
        xml(
          response,
          `<ListBucketResult><IsTruncated>${Boolean(next)}</IsTruncated>${more}${entries.join("")}</ListBucketResult>`,
        );
        return;
      }
      case "ListMultipartUploads": {
        const open = [...uploads].filter(([, { key: name }]) => name.startsWith(query.get("prefix") ?? ""));
        open.sort(([, a], [, b]) => (a.key < b.key ? -1 : 1));
        const { page, next } = pageOf(open, ([, upload]) => upload.key, query.get("key-marker"));
        const entries = page.map(
          ([id, { key: name, at }]) =>
            `<Upload><Key>${name}</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`,
        );
        const more = next
          ? `<NextKeyMarker>${next}</NextKeyMarker><NextUploadIdMarker>x</NextUploadIdMarker>`
          : "";
        xml(
          response,
          `<ListMultipartUploadsResult><IsTruncated>${Boolean(next)}</IsTruncated>${more}${entries.join("")}</ListMultipartUploadsResult>`,
        );
        return;
      }
      default:
        throw refusal(501, "NotImplemented");
    }
  }

  function uploadOf(query: URLSearchParams, key: string): Upload {
    const upload = uploads.get(query.get("uploadId") ?? "");
    if (upload?.key !== key) throw refusal(404, "NoSuchUpload");
    return upload;
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      const { status = 500, code = "InternalError" } = error;
      request.resume();
      if (response.headersSent) response.destroy();
      else xml(response, request.method === "HEAD" ? "" : `<Error><Code>${code}</Code></Error>`, status);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // a listening TCP server has a port

  return {
    endpoint: `http://127.0.0.1:${port}`,
    keys: () => [...objects.keys()].sort(),
    openUploads: () => [...uploads.values()].map(({ key }) => key),
    operations,
    setMood(next: Mood) {
      mood = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function nameOf(request: IncomingMessage, query: URLSearchParams, key: string): string {
  const { method } = request;
  const inUpload = query.has("uploadId");
  if (method === "PUT" && inUpload && query.has("partNumber")) return "UploadPart";
  if (method === "PUT") return request.headers["x-amz-copy-source"] ? "CopyObject" : "PutObject";
  if (method === "POST" && query.has("uploads")) return "CreateMultipartUpload";
  if (method === "POST" && inUpload) return "CompleteMultipartUpload";
  if (method === "DELETE") return inUpload ? "AbortMultipartUpload" : "DeleteObject";
  if (method === "HEAD") return "HeadObject";
  if (method === "GET" && key) return "GetObject";
  if (method === "GET" && query.has("uploads")) return "ListMultipartUploads";
  if (method === "GET" && query.get("list-type") === "2") return "ListObjectsV2";
  return "Unknown";
}

function pageOf<T>(all: T[], nameOf: (entry: T) => string, after: string | null) {
  const rest = all.filter((entry) => after === null || nameOf(entry) > after);
  const page = rest.slice(0, 2);
  const last = page.at(-1);
  return { page, next: rest.length > 2 && last !== undefined ? nameOf(last) : null };
}

function refusal(status: number, code: string) {
  return Object.assign(new Error(code), { status, code });
}

function xml(response: ServerResponse, body: string, status = 200) {
  response
    .writeHead(status, { "content-type": "application/xml" })
    .end(body && `<?xml version="1.0"?>${body}`);
}

/** Recomputes signature version 4 from the received request. */
function isSigned(
  request: IncomingMessage,
  { accessKeyId, secretAccessKey }: Record<"accessKeyId" | "secretAccessKey", string>,
) {
  const header =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? "",
    );
  if (!header) return false;
  const [, credential = "", signedHeaders = "", signature] = header;
  const [keyId, date = "", region = "", service = "", end] = credential.split("/");
  const payload = String(request.headers["x-amz-content-sha256"]);
  if (keyId !== accessKeyId || service !== "s3" || end !== "aws4_request") return false;
  if (!signedHeaders.split(";").includes("host") || payload.startsWith("STREAMING-")) return false;
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const canonical = [
    request.method,
    path,
    query
      .split("&")
      .filter(Boolean)
      .map((pair) => (pair.includes("=") ? pair : `${pair}=`))
      .sort()
      .join("&"),
    ...signedHeaders.split(";").map((name) => `${name}:${String(request.headers[name]).trim()}`),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const toSign = [
    "AWS4-HMAC-SHA256",
    request.headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ];
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  return createHmac("sha256", key).update(toSign.join("\n")).digest("hex") === signature;
}
