import { extname } from "node:path";
import { type ByteRange, parseRange } from "./range";
import { artifactStore } from "./store";
import type { ArtifactStore } from "./store-port";

/** Fields of an artifact that a download needs; `byteLength` in bytes. */
export type Downloadable = { sha256: string; byteLength: number; mediaType: string; filename: string | null };

/** The method and the unparsed headers that a download reads. */
export type DownloadRequest = {
  method: string;
  range?: string | null;
  ifMatch?: string | null;
  ifNoneMatch?: string | null;
  ifRange?: string | null;
};

export type DownloadResponse = {
  status: 200 | 206 | 304 | 412 | 416;
  headers: Record<string, string>;
  /** Read to the end or leave the loop; null if the answer has no body. */
  body: AsyncIterable<Uint8Array> | null;
};

/** Media types that a browser may show in place; all others are saved, never rendered on our origin. */
const SHOWN = new Set(["image/png", "image/jpeg", "image/webp"]);

/**
 * Answers a GET or HEAD of an artifact: the whole, one range (several ranges: the whole), 304, 412 or 416.
 * The caller has checked right and tenant. NotFound if a body is due and the bytes are gone.
 */
export async function download(
  artifact: Downloadable,
  request: DownloadRequest,
  store: ArtifactStore = artifactStore(),
): Promise<DownloadResponse> {
  const { sha256, byteLength } = artifact;
  const etag = `"${sha256}"`;
  const cached = {
    etag,
    // Content under a hash never changes, but it is private, so shared caches and other sign-ins must not
    // reuse it.
    "cache-control": "private, max-age=31536000, immutable",
    vary: "authorization, cookie, origin",
  };
  if (request.ifMatch && !isRequiredBy(request.ifMatch, etag)) {
    return { status: 412, headers: { etag, "cache-control": "no-store" }, body: null };
  }
  if (request.ifNoneMatch && isNamedIn(request.ifNoneMatch, etag)) {
    return { status: 304, headers: cached, body: null };
  }

  const headers: Record<string, string> = {
    ...cached,
    "accept-ranges": "bytes",
    "content-type": toContentType(artifact.mediaType),
    "content-disposition": toContentDisposition(artifact.mediaType, artifact.filename),
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  };
  if (request.method === "HEAD") {
    return { status: 200, headers: { ...headers, "content-length": String(byteLength) }, body: null };
  }

  // If-Range compares strongly: a weak tag or a date never matches, and the whole is sent.
  const isRangeAsked = request.range && (!request.ifRange || request.ifRange.trim() === etag);
  const range = isRangeAsked && request.range ? parseRange(request.range, byteLength) : "whole";
  if (range === "none") {
    return {
      status: 416,
      headers: {
        "accept-ranges": "bytes",
        "cache-control": "no-store",
        "content-length": "0",
        "content-range": `bytes */${byteLength}`,
      },
      body: null,
    };
  }
  if (range === "whole") {
    const body = await begun(await store.open(sha256));
    return { status: 200, headers: { ...headers, "content-length": String(byteLength) }, body };
  }
  return {
    status: 206,
    headers: {
      ...headers,
      "content-length": String(lengthOf(range)),
      "content-range": `bytes ${range.start}-${range.end}/${byteLength}`,
    },
    body: await begun(await store.open(sha256, range)),
  };
}

/**
 * Returns the same bytes after reading the first piece: if the store fails on it, the error is reported
 * before the answer begins.
 */
async function begun(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const rest = bytes[Symbol.asyncIterator]();
  const first = await rest.next();
  let isFirst = true;
  const whole: AsyncIterator<Uint8Array> = {
    async next() {
      if (!isFirst) return rest.next();
      isFirst = false;
      return first;
    },
    async return() {
      await rest.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => whole };
}

function lengthOf({ start, end }: ByteRange): number {
  return end - start + 1;
}

/**
 * True if an If-None-Match header names this strong tag or is `*`. The comparison is weak, so `W/` before a tag
 * does not matter.
 */
function isNamedIn(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  // Tags are matched whole, since another tag may have a comma inside its quotes.
  return header.match(/"[^"]*"/g)?.some((tag) => tag === etag) ?? false;
}

/**
 * True if an If-Match header names this strong tag or is `*`. The comparison is strong, so a weak tag matches
 * nothing.
 */
function isRequiredBy(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  return header.match(/(?:W\/)?"[^"]*"/g)?.includes(etag) ?? false;
}

/** The stored media type, or octet-stream if it could not be in a header. */
function toContentType(mediaType: string): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[\x20-\x7e]*)?$/.test(mediaType)
    ? mediaType
    : "application/octet-stream";
}

/** RFC 6266: a plain name for every client, and the exact one (RFC 8187) where the two differ. */
export function toContentDisposition(mediaType: string, filename: string | null): string {
  const type = mediaType.split(";", 1)[0] ?? "";
  const disposition = SHOWN.has(type.trim().toLowerCase()) ? "inline" : "attachment";
  const name = filename === null ? "" : toSafeName(filename);
  if (!name) return disposition;
  // A percent sign is replaced as well: some clients decode it inside the quotes.
  const plain = name.replace(/[^\x20-\x7e]/gu, "_").replace(/["\\%]/g, "_");
  if (plain === name) return `${disposition}; filename="${plain}"`;
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${exact}`;
}

const NAME_CHARACTERS = 150;

/**
 * The name without folders, control characters and marks that reverse text, cut to a maximum length; may be
 * empty.
 */
function toSafeName(filename: string): string {
  const base = filename.split(/[/\\]/).at(-1) ?? "";
  const clean = base
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "")
    .trim();
  if (/^\.*$/.test(clean)) return "";
  const characters = [...clean];
  if (characters.length <= NAME_CHARACTERS) return clean;
  const ending = [...extname(clean)].slice(0, 20);
  return [...characters.slice(0, NAME_CHARACTERS - ending.length), ...ending].join("");
}
