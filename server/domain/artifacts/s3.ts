import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type * as S3 from "@aws-sdk/client-s3";
import { Fault, fail } from "@/server/platform/errors/errors";
import { StoreOutage } from "@/server/platform/errors/outage";
import { ulid } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { isSha256, pieces } from "./pieces";
import { type ByteRange, clampRange, isRange } from "./range";
import type { ArtifactStore } from "./store-port";

type S3Settings = {
  bucket: string;
  region: string;
  /** AWS if unset; otherwise this server, with the bucket in the path. */
  endpoint?: string;
  /** Unless both are set, the AWS SDK finds credentials by its own rules (environment, profile, role). */
  accessKeyId?: string;
  secretAccessKey?: string;
};

/** The smallest part that S3 takes; a put holds at most two of them. Smaller content takes one request. */
const PART_BYTES = 5 * 1024 * 1024;
/** The largest object that S3 copies in one request, so the largest artifact here. */
const MAX_BYTES = 5 * 1024 ** 3;

/**
 * Stores artifacts as objects `artifacts/<sha256>` of one bucket. Small ones are put under their name at
 * once; a stream has no name before its end, so it goes to `tmp/` in parts and is then copied inside the
 * store. At most 5 GiB.
 */
export function s3Store(settings: S3Settings): ArtifactStore {
  const bucket = bucketOf(settings);
  return {
    put: (source, options) => put(bucket, source, options),
    open: (sha256, range) => open(bucket, sha256, range),
    async stat(sha256) {
      return isSha256(sha256) ? bucket.find(sha256) : null;
    },
    async remove(sha256) {
      if (isSha256(sha256)) await bucket.remove(bucket.keyOf(sha256));
    },
    async sweepTemporary(olderThan) {
      return (await sweepObjects(bucket, olderThan)) + (await sweepUploads(bucket, olderThan));
    },
  };
}

type Bucket = ReturnType<typeof bucketOf>;

/** One bucket, connected on first use. */
function bucketOf(settings: S3Settings) {
  const Bucket = settings.bucket;
  let connecting: ReturnType<typeof connect> | undefined;
  const connected = () => {
    connecting ??= connect(settings);
    return connecting;
  };
  const keyOf = (sha256: string) => `artifacts/${sha256}`;
  /** Awaits an answer of the bucket; StoreOutage if it fails or refuses. */
  const answered = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((cause: unknown) => {
      throw outageOf(Bucket, cause);
    });

  async function find(sha256: string) {
    const { sdk, client } = await connected();
    try {
      const head = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: keyOf(sha256) }));
      return { byteLength: head.ContentLength ?? 0, storedAt: head.LastModified ?? new Date(0) };
    } catch (error) {
      if (isStatus(sdk, error, 404)) return null;
      throw outageOf(Bucket, error);
    }
  }

  async function remove(Key: string) {
    const { sdk, client } = await connected();
    await answered(client.send(new sdk.DeleteObjectCommand({ Bucket, Key })));
  }

  return { name: Bucket, keyOf, connected, answered, find, remove };
}

/** Begins a multipart upload that sends one part while the next one is gathered. */
async function beginUpload({ name: Bucket, connected, answered }: Bucket, Key: string) {
  const { sdk, client } = await connected();
  const { UploadId } = await answered(client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key })));
  const parts: S3.CompletedPart[] = [];
  let travelling: Promise<S3.CompletedPart> | undefined;
  const arrive = async () => {
    if (travelling) parts.push(await travelling);
    travelling = undefined;
  };
  const sendPart = async (PartNumber: number, Body: Uint8Array): Promise<S3.CompletedPart> => {
    const part = await answered(
      client.send(new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body })),
    );
    return { PartNumber, ETag: part.ETag };
  };
  return {
    async send(piece: Uint8Array) {
      await arrive();
      travelling = sendPart(parts.length + 1, piece);
      travelling.catch(() => {}); // the error surfaces where the part is awaited
    },
    async complete() {
      await arrive();
      const MultipartUpload = { Parts: parts };
      await answered(
        client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload })),
      );
    },
    async abort() {
      await travelling?.catch(() => {}); // a part that arrives after the abort would stay
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    },
  };
}

type Put = ArtifactStore["put"];

async function put(bucket: Bucket, source: Parameters<Put>[0], options: Parameters<Put>[1]): ReturnType<Put> {
  const hash = createHash("sha256");
  let byteLength = 0;
  /** Finishes the hash, and calls `beforeKept` with the result. */
  const ended = async () => {
    const digest = hash.digest();
    const kept = { sha256: digest.toString("hex"), byteLength };
    await options?.beforeKept?.(kept);
    return { ...kept, digest };
  };
  const temporary = `tmp/${ulid()}`;
  let upload: Awaited<ReturnType<typeof beginUpload>> | undefined;
  try {
    const limit = Math.min(options?.maxBytes ?? MAX_BYTES, MAX_BYTES);
    for await (const piece of pieces(source, PART_BYTES, limit)) {
      hash.update(piece);
      byteLength += piece.byteLength;
      // A first piece shorter than a part is also the last.
      if (!upload && piece.byteLength < PART_BYTES) return await putWhole(bucket, piece, await ended());
      upload ??= await beginUpload(bucket, temporary);
      await upload.send(piece);
    }
    if (!upload) return await putWhole(bucket, new Uint8Array(), await ended());
    await upload.complete();
  } catch (error) {
    await upload
      ?.abort()
      .catch((cause) => log.warn({ err: cause }, "an unfinished multipart upload could not be removed"));
    throw error;
  }
  try {
    const { sha256 } = await ended();
    await giveName(bucket, temporary, sha256);
    return { sha256, byteLength };
  } finally {
    await bucket
      .remove(temporary)
      .catch((cause) => log.warn({ err: cause }, "a temporary object could not be removed"));
  }
}

async function putWhole(
  { name: Bucket, keyOf, connected, answered }: Bucket,
  Body: Uint8Array,
  { sha256, byteLength, digest }: { sha256: string; byteLength: number; digest: Buffer },
) {
  const { sdk, client } = await connected();
  const ChecksumSHA256 = digest.toString("base64"); // a server that supports the header rejects damaged bytes
  await answered(client.send(new sdk.PutObjectCommand({ Bucket, Key: keyOf(sha256), Body, ChecksumSHA256 })));
  return { sha256, byteLength };
}

/** Copies a complete temporary object to its name inside the store. */
async function giveName(
  { name: Bucket, keyOf, connected, answered }: Bucket,
  temporary: string,
  sha256: string,
): Promise<void> {
  const { sdk, client } = await connected();
  const CopySource = encodeURI(`${Bucket}/${temporary}`);
  await answered(client.send(new sdk.CopyObjectCommand({ Bucket, Key: keyOf(sha256), CopySource })));
}

async function open(bucket: Bucket, sha256: string, range: ByteRange | undefined) {
  if (!isSha256(sha256)) fail("NotFound", "The artifact's content is not in the store.");
  const { name: Bucket, keyOf, find } = bucket;
  const { sdk, client } = await bucket.connected();
  const refuseRange = async (asked: NonNullable<typeof range>) => {
    const found = await find(sha256);
    if (!found) fail("NotFound", "The artifact's content is not in the store.");
    clampRange(asked, found.byteLength);
  };
  if (range && !isRange(range)) await refuseRange(range);
  const Range = range && `bytes=${range.start}-${range.end}`;
  try {
    const { Body, ContentRange, ContentLength } = await client.send(
      new sdk.GetObjectCommand({ Bucket, Key: keyOf(sha256), Range }),
    );
    if (!(Body instanceof Readable)) throw new Error("The S3 client returned no readable body.");
    // Some servers do not support ranges and send the whole.
    return range && !ContentRange
      ? partOf(Bucket, Body, range, ContentLength ?? MAX_BYTES)
      : read(Bucket, Body);
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (isStatus(sdk, error, 404)) fail("NotFound", "The artifact's content is not in the store.");
    if (range && isStatus(sdk, error, 416)) await refuseRange(range);
    throw outageOf(Bucket, error);
  }
}

/** Removes temporary objects older than this, and returns their number. */
async function sweepObjects(bucket: Bucket, olderThan: Date): Promise<number> {
  const { sdk, client } = await bucket.connected();
  let swept = 0;
  for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket: bucket.name, Prefix: "tmp/" })) {
    for (const { Key, LastModified } of page.Contents ?? []) {
      if (!Key || !LastModified || LastModified >= olderThan) continue;
      await bucket.remove(Key);
      swept++;
    }
  }
  return swept;
}

/** Aborts multipart uploads older than this, and returns their number. */
async function sweepUploads({ name: Bucket, connected }: Bucket, olderThan: Date): Promise<number> {
  const { sdk, client } = await connected();
  let swept = 0;
  // Some servers list uploads only by their full key, others not at all (501); those end stale uploads
  // automatically.
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
  while (markers) {
    const list: S3.ListMultipartUploadsCommand = new sdk.ListMultipartUploadsCommand({
      Bucket,
      Prefix: "tmp/",
      ...markers,
    });
    const page: S3.ListMultipartUploadsCommandOutput | null = await client.send(list).catch((error) => {
      if (isStatus(sdk, error, 501)) return null;
      throw error;
    });
    if (!page) break;
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Key || !UploadId || !Initiated || Initiated >= olderThan) continue;
      await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      swept++;
    }
    markers = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : null;
  }
  return swept;
}

/** Loads the SDK only on use, so that installations with the files driver never load it. */
async function connect(settings: S3Settings) {
  const sdk = await import("@aws-sdk/client-s3");
  const { region, endpoint, accessKeyId, secretAccessKey } = settings;
  const client = new sdk.S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    // The SDK sends its default checksums as trailers, which many S3-compatible servers do not support.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: 5_000,
      socketTimeout: 120_000,
      // Every slow download holds a connection; the SDK's default of 50 would make the rest wait.
      httpAgent: { keepAlive: true, maxSockets: 1024 },
      httpsAgent: { keepAlive: true, maxSockets: 1024 },
    },
  });
  return { sdk, client };
}

/** Cuts one range out of a body that is the whole object. RangeNotSatisfiable if the range is outside. */
function partOf(bucket: string, body: Readable, range: ByteRange, byteLength: number) {
  try {
    const { start, end } = clampRange(range, byteLength);
    return read(bucket, body, start, end - start + 1);
  } catch (refusal) {
    body.destroy();
    throw refusal;
  }
}

/**
 * The body's bytes without the first `skipped`, at most `wanted` of them. Closes the connection when the
 * reader leaves, even before the first byte.
 */
function read(
  bucket: string,
  body: Readable,
  skipped = 0,
  wanted = Number.POSITIVE_INFINITY,
): AsyncIterableIterator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = body[Symbol.asyncIterator]();
  let [toSkip, left] = [skipped, wanted];
  const close = async () => {
    body.destroy();
    await chunks.return?.();
    return { done: true, value: undefined } as const;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (left > 0) {
        const chunk = await chunks.next().catch((cause: unknown) => {
          throw outageOf(bucket, cause);
        });
        if (chunk.done) return chunk;
        const piece = chunk.value.subarray(toSkip, toSkip + left);
        toSkip = Math.max(0, toSkip - chunk.value.byteLength);
        left -= piece.byteLength;
        if (piece.byteLength > 0) return { done: false, value: piece };
      }
      return close();
    },
    return: close,
  };
}

/**
 * The outage that a bucket error means. Its text has only the status and code of a refusal, because some
 * servers repeat the access key in their message.
 */
function outageOf(bucket: string, cause: unknown): StoreOutage {
  const { $metadata, name } = cause as Partial<S3.S3ServiceException>; // optional fields fit any error
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return new StoreOutage(`The bucket ${bucket} cannot be reached.`, { cause });
  const said = `${status}${/^\w{1,64}$/.test(name ?? "") ? ` ${name}` : ""}`;
  return new StoreOutage(
    status === 401 || status === 403
      ? `The bucket ${bucket} rejected our credentials (${said}).`
      : `The bucket ${bucket} rejected the request (${said}).`,
  );
}

function isStatus(sdk: typeof S3, error: unknown, status: number): boolean {
  return error instanceof sdk.S3ServiceException && error.$metadata.httpStatusCode === status;
}
