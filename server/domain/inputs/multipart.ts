import { ValidationFault } from "@/server/errors";

/** The file of a multipart/form-data body: its own media type and name, and its bytes as they come. */
export type FilePart = {
  mediaType: string | null;
  filename: string | null;
  bytes: AsyncIterable<Uint8Array>;
};

const MOST_HEADER_BYTES = 16 * 1024;
const MOST_FIELDS_BYTES = 64 * 1024;

/** The boundary of a multipart content type, or null for another type. */
export function boundaryOf(contentType: string | undefined): string | null {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? "",
  );
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * Reads up to the one file of a multipart body. Its bytes are handed on piece by piece; they end with an error when the
 * body ends before its closing boundary, or when a second file follows. Memory does not grow with the file.
 */
export async function readFilePart(source: AsyncIterable<Uint8Array>, boundary: string): Promise<FilePart> {
  const chunks = source[Symbol.asyncIterator]();
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first boundary stands at the very start: with a line break before it, it is like the others.
  let held = Buffer.from("\r\n");
  let passed = 0;

  async function more(): Promise<void> {
    const { done, value } = await chunks.next();
    if (done) refuse("The multipart body ends before its closing boundary.");
    held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value]);
  }
  async function until(mark: Buffer, most: number): Promise<Buffer> {
    for (;;) {
      const at = held.indexOf(mark);
      if (at >= 0) {
        const before = held.subarray(0, at);
        held = held.subarray(at + mark.length);
        return before;
      }
      if (held.length > most) refuse("A part of the multipart body is too long.");
      await more();
    }
  }
  /** After a boundary: true when another part follows, false at the end. */
  async function isPart(): Promise<boolean> {
    while (held.length < 2) await more();
    const mark = held.subarray(0, 2).toString("latin1");
    if (mark === "--") return false;
    await until(Buffer.from("\r\n"), 1024); // blanks may stand after a boundary
    return true;
  }

  await until(delimiter, MOST_FIELDS_BYTES);
  while (await isPart()) {
    held = Buffer.concat([Buffer.from("\r\n"), held]); // a part may have no header at all
    const head = (await until(Buffer.from("\r\n\r\n"), MOST_HEADER_BYTES)).toString("utf8");
    const { isFile, ...named } = readHead(head);
    if (isFile) return { ...named, bytes: fileBytes() };
    passed += (await until(delimiter, MOST_FIELDS_BYTES)).length;
    if (passed > MOST_FIELDS_BYTES) refuse("The fields of the multipart body are too long.");
  }
  return refuse("The multipart body has no file.");

  async function* fileBytes(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(delimiter);
      if (at >= 0) {
        if (at > 0) yield held.subarray(0, at);
        held = held.subarray(at + delimiter.length);
        break;
      }
      // What may be the beginning of a boundary waits for what follows.
      const ready = held.length - delimiter.length;
      if (ready > 0) {
        const bytes = held.subarray(0, ready);
        held = Buffer.from(held.subarray(ready));
        yield bytes;
      }
      await more();
    }
    while (await isPart()) {
      held = Buffer.concat([Buffer.from("\r\n"), held]);
      const head = (await until(Buffer.from("\r\n\r\n"), MOST_HEADER_BYTES)).toString("utf8");
      if (readHead(head).isFile) refuse("The multipart body has more than one file; send one.");
      await until(delimiter, MOST_FIELDS_BYTES);
    }
  }
}

function readHead(head: string) {
  const header = (name: string) =>
    new RegExp(`(?:^|\\r\\n)${name}:[ \\t]*([^\\r\\n]*)`, "i").exec(head)?.[1] ?? "";
  const disposition = header("content-disposition");
  const filename = filenameOf(disposition);
  const mediaType = header("content-type").trim() || null;
  return { filename, mediaType, isFile: filename !== null || /;\s*name="?file"?\s*(;|$)/i.test(disposition) };
}

/** The file name of a Content-Disposition header, if it has one. */
export function filenameOf(disposition: string): string | null {
  const exact = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition)?.[1];
  if (exact) {
    try {
      return decodeURIComponent(exact);
    } catch {
      // the plain form is taken then
    }
  }
  const match = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const quoted = match?.[1]?.replace(/\\(.)/g, "$1").replaceAll("%22", '"');
  return quoted ?? match?.[2] ?? null;
}

function refuse(msg: string): never {
  throw new ValidationFault([{ loc: ["body"], msg, type: "multipart_invalid" }]);
}
