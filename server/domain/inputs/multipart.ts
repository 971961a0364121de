import { isUtf8 } from "node:buffer";
import { ValidationFault } from "@/server/platform/errors/errors";
import { textsOf } from "@/server/platform/text/header";

/**
 * The file of a multipart/form-data body: the name of its field, its own media type and name, and its bytes
 * as they arrive.
 */
export type FilePart = {
  field: string | null;
  mediaType: string | null;
  filename: string | null;
  bytes: AsyncIterable<Uint8Array>;
};

/** Receives the parts of a body in order; an error that it throws refuses the body. */
export type FormReader = {
  /** Called for each field that is not a file. */
  field?(name: string | null, value: Buffer): void;
  /** Called with the file, before its first byte. */
  file?(part: Omit<FilePart, "bytes">): Promise<void>;
  /** Called when the body was read to its end, before the file's bytes end. */
  end?(): Promise<void>;
};

const MOST_HEADER_BYTES = 16 * 1024;
/** Limit for everything that is not the file. */
const MOST_OTHER_BYTES = 128 * 1024;
const MOST_FIELD_BYTES = 64 * 1024;
const MOST_PARTS = 200;

/** Most bytes that a multipart body may have besides its file. */
export const MOST_AROUND_FILE = MOST_OTHER_BYTES;

const isForm = (contentType: string | undefined) =>
  /^multipart\/form-data\s*(?:;|$)/i.test(contentType ?? "");

/** The boundary of a multipart content type; null for another type. Refuses a form that names none. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (!isForm(contentType)) return null;
  const match = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType ?? "");
  return (
    match?.[1] ?? match?.[2] ?? refuse("The multipart content type has no boundary of 1 to 70 characters.")
  );
}

/**
 * Reads up to the one file of a multipart body. Its bytes are yielded piece by piece, and end only after
 * everything behind them was read too: with an error if the body ends before its closing boundary, holds a
 * second file, or the reader refuses something. Memory does not grow with the file. The caller must read the
 * bytes or end them, which closes the source; so does every refusal.
 */
export async function readFilePart(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
  reader: FormReader = {},
): Promise<FilePart> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const body = bodyOf(source);
  const nextHead = headsOf(body);
  /** Reads fields up to the file; null at the end of the body. */
  async function nextFile() {
    for (let head = await nextHead(); head; head = await nextHead()) {
      if (head.isFile) return head;
      const value = await body.until(delimiter, MOST_FIELD_BYTES);
      reader.field?.(head.field, value);
    }
    return null;
  }

  let isFound = false;
  try {
    await body.until(delimiter, MOST_FIELD_BYTES);
    const head = await nextFile();
    if (!head) return refuse("The multipart body has no file.");
    const { isFile: _, ...part } = head;
    await reader.file?.(part);
    isFound = true;
    return { ...part, bytes: fileBytes() };
  } finally {
    if (!isFound) await body.close();
  }

  async function* fileBytes(): AsyncGenerator<Uint8Array> {
    try {
      yield* body.piecesUntil(delimiter);
      if (await nextFile()) refuse("The multipart body has more than one file. Send only one.");
      await body.end();
      await reader.end?.();
    } finally {
      await body.close();
    }
  }
}

type Body = ReturnType<typeof bodyOf>;

/** Buffers a body while it arrives, and counts its bytes that are not the file. */
function bodyOf(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]();
  // The first boundary is at the very start: a line break before it makes it like the others.
  let held = Buffer.from("\r\n");
  let others = 0;

  /** Reads one more piece; false at the end. */
  async function gather(): Promise<boolean> {
    const { done, value } = await chunks.next();
    if (!done) held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value]);
    return !done;
  }
  async function more(): Promise<void> {
    if (!(await gather())) refuse("The multipart body ends before its closing boundary.");
  }
  function countOthers(bytes: number): void {
    others += bytes;
    if (others > MOST_OTHER_BYTES) refuse("The fields of the multipart body are too long.");
  }
  /** Consumes the bytes up to and including the mark, and returns those before it. */
  async function until(mark: Buffer, most: number): Promise<Buffer> {
    for (let from = 0; ; ) {
      const at = held.indexOf(mark, from);
      if ((at >= 0 ? at : held.length - mark.length) > most)
        refuse("A part of the multipart body is too long.");
      if (at >= 0) {
        const before = held.subarray(0, at);
        held = held.subarray(at + mark.length);
        countOthers(at + mark.length);
        return before;
      }
      from = Math.max(0, held.length - mark.length + 1);
      await more();
    }
  }
  /** Yields the bytes before the mark piece by piece, without a limit, and consumes the mark. */
  async function* piecesUntil(mark: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(mark);
      if (at >= 0) {
        if (at > 0) yield held.subarray(0, at);
        held = held.subarray(at + mark.length);
        return;
      }
      // The last bytes may begin the mark, so they wait for the next piece.
      const ready = held.length - mark.length;
      if (ready > 0) {
        const bytes = held.subarray(0, ready);
        held = Buffer.from(held.subarray(ready));
        yield bytes;
      }
      await more();
    }
  }
  /** Consumes the next two characters if they are these. */
  async function takeTwo(text: string): Promise<boolean> {
    while (held.length < 2) await more();
    if (held.subarray(0, 2).toString("latin1") !== text) return false;
    held = held.subarray(2);
    return true;
  }
  /** Ignores the text after the closing boundary, as RFC 2046 (5.1.1) says; it counts toward the limit. */
  async function end(): Promise<void> {
    do {
      countOthers(held.length);
      held = Buffer.alloc(0);
    } while (await gather());
  }
  return {
    until,
    piecesUntil,
    takeTwo,
    end,
    /** Puts bytes back in front of the next ones. */
    unread(bytes: Buffer): void {
      held = Buffer.concat([bytes, held]);
    },
    async close(): Promise<void> {
      await chunks.return?.();
    },
  };
}

/**
 * Returns a function that, after a boundary, reads the head of the next part; null at the end of the body.
 */
function headsOf(body: Body) {
  let parts = 0;
  return async () => {
    if (await body.takeTwo("--")) return null;
    if (++parts > MOST_PARTS) refuse("The multipart body has too many parts.");
    await body.until(Buffer.from("\r\n"), 1024); // blanks may follow a boundary
    body.unread(Buffer.from("\r\n")); // a part may have no header at all
    return readHead((await body.until(Buffer.from("\r\n\r\n"), MOST_HEADER_BYTES)).toString("latin1"));
  };
}

/** The text of a field. Refuses invalid UTF-8, and U+0000, which PostgreSQL cannot store. */
export function fieldText(name: string, value: Buffer): string {
  const refuseField = (msg: string, type: string): never => {
    throw new ValidationFault([{ loc: ["body", name], msg, type }]);
  };
  if (!isUtf8(value)) return refuseField("This field is not valid UTF-8.", "unicode_invalid");
  if (value.includes(0)) return refuseField("The character U+0000 is not allowed.", "nul_character");
  return value.toString("utf8");
}

function readHead(head: string) {
  const header = (name: string) => {
    const lines = head.matchAll(new RegExp(`(?:^|\\r\\n)${name}:[ \\t]*([^\\r\\n]*)`, "gi"));
    const [text = "", other] = textsOf([...lines].map(([, value = ""]) => value));
    return other === undefined
      ? text
      : refuse(`A part of the multipart body has ${name} twice with different values.`);
  };
  const disposition = header("content-disposition");
  const filename = filenameOf(disposition);
  const mediaType = header("content-type").trim() || null;
  const field = parameterOf(disposition, "name");
  return { field, filename, mediaType, isFile: filename !== null || field?.toLowerCase() === "file" };
}

/** The file name of a Content-Disposition header; null if it has none. */
export function filenameOf(disposition: string): string | null {
  const exact = /;\s*filename\*=UTF-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  if (exact) {
    try {
      return decodeURIComponent(exact);
    } catch {
      // the plain form is used then
    }
  }
  return parameterOf(disposition, "filename");
}

/** A parameter of a header, quoted or not; null if absent. Browsers write a quotation mark in it as %22. */
function parameterOf(header: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i").exec(header);
  const quoted = match?.[1]?.replace(/\\(.)/g, "$1").replaceAll("%22", '"');
  return quoted ?? match?.[2] ?? null;
}

function refuse(msg: string): never {
  throw new ValidationFault([{ loc: ["body"], msg, type: "multipart_invalid" }]);
}
