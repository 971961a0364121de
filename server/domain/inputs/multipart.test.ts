import fc from "fast-check";
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { boundaryOf, fieldText, filenameOf, readFilePart } from "./multipart";

const boundary = "----b0";
async function* cut(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const body = (
  file: Uint8Array,
  {
    before = "",
    after = `\r\n--${boundary}--\r\n`,
    head = 'Content-Disposition: form-data; name="file"; filename="a b.png"\r\nContent-Type: image/png',
  } = {},
) => Buffer.concat([Buffer.from(`${before}--${boundary}\r\n${head}\r\n\r\n`), file, Buffer.from(after)]);
async function whole(bytes: AsyncIterable<Uint8Array>) {
  const pieces: Buffer[] = [];
  for await (const piece of bytes) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test("a file comes out as it went in, however the body is cut", async () => {
  // Bytes that look like boundaries are the hard ones.
  const tricky = fc
    .array(fc.constantFrom("\r\n", "--", boundary, `\r\n--${boundary.slice(0, 4)}`, "x", "\0", "\r"), {
      maxLength: 20,
    })
    .map((parts) => Buffer.from(parts.join("")));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(tricky, fc.uint8Array({ maxLength: 300 })),
      fc.integer({ min: 1, max: 400 }),
      async (file, size) => {
        fc.pre(!Buffer.from(file).includes(`\r\n--${boundary}`));
        fc.pre(!Buffer.from(file).toString("latin1").startsWith(`--${boundary}`));
        const field = `--${boundary}\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n`;
        const part = await readFilePart(cut(body(file, { before: field }), size), boundary);
        expect([part.filename, part.mediaType]).toEqual(["a b.png", "image/png"]);
        expect((await whole(part.bytes)).equals(Buffer.from(file))).toBe(true);
      },
    ),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("a body that is cut off anywhere is refused", async () => {
  const full = body(Buffer.from("The whole file."), { after: `\r\n--${boundary}--` });
  for (let length = 0; length < full.length; length++) {
    const read = async () => whole((await readFilePart(cut(full.subarray(0, length), 7), boundary)).bytes);
    await expect(read(), `after ${length} bytes`).rejects.toThrow("ends before its closing boundary");
  }
});

test("a body without a file, with two files or with a field that is too long is refused", async () => {
  const one = body(Buffer.from("a"), { after: "\r\n" });
  const two = Buffer.concat([one, body(Buffer.from("b"))]);
  await expect(whole((await readFilePart(cut(two, 9), boundary)).bytes)).rejects.toThrow(
    "more than one file",
  );
  const none = body(Buffer.from("a"), { head: 'Content-Disposition: form-data; name="note"' });
  await expect(readFilePart(cut(none, 9), boundary)).rejects.toThrow("no file");
  const long = body(Buffer.alloc(200_000), { head: 'Content-Disposition: form-data; name="note"' });
  await expect(readFilePart(cut(long, 999), boundary)).rejects.toThrow("too long");
});

const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Reads a whole body; returns its file and the reader's events in order. */
async function read(bytes: Buffer, size: number) {
  const events: string[] = [];
  const part = await readFilePart(cut(bytes, size), boundary, {
    field: (name, value) => events.push(`${name}=${value}`),
    file: async ({ field: name, filename }) => void events.push(`file ${name} ${filename}`),
    end: async () => void events.push("end"),
  });
  const content = await whole(part.bytes);
  return { events, content: content.toString() };
}

test("fields before and after the file are reported in order, before the bytes end", async () => {
  const before = field("a", "one\r\n--") + field('b"c', "").replace('b"c', "b%22c");
  const after = `\r\n${field("d", "ü")}--${boundary}--\r\n`;
  const sent = body(Buffer.from("The file."), { before, after });
  for (const size of [1, 2, 7, 1000])
    expect(await read(sent, size)).toEqual({
      events: ["a=one\r\n--", 'b"c=', "file file a b.png", "d=ü", "end"],
      content: "The file.",
    });
});

test("a refusal by the reader ends the body there, and closes its source", async () => {
  const sent = body(Buffer.alloc(5_000, 1), {
    before: field("a", "1"),
    after: `\r\n${field("z", "9")}--${boundary}--`,
  });
  const refusal = new Error("not this one");
  const refusing = (where: "field" | "file" | "end", name?: string) => ({
    field: (read: string | null) => {
      if (where === "field" && read === name) throw refusal;
    },
    file: async () => {
      if (where === "file") throw refusal;
    },
    end: async () => {
      if (where === "end") throw refusal;
    },
  });
  for (const [reader, most] of [
    [refusing("field", "a"), 300],
    [refusing("file"), 400],
    [refusing("field", "z"), 5_500],
    [refusing("end"), 5_500],
  ] as const) {
    let taken = 0;
    let isClosed = false;
    async function* source() {
      try {
        for await (const piece of cut(sent, 50)) {
          taken += piece.length;
          yield piece;
        }
      } finally {
        isClosed = true;
      }
    }
    const run = async () => whole((await readFilePart(source(), boundary, reader)).bytes);
    await expect(run()).rejects.toBe(refusal);
    expect(isClosed).toBe(true);
    expect(taken).toBeLessThan(most);
  }
});

test("everything besides the file is limited: parts, heads, fields and the text after the end", async () => {
  const tail = `\r\n--${boundary}--`;
  const many = field("a", "").repeat(201);
  const wide = field("a", "x".repeat(60_000)).repeat(3);
  const head = `--${boundary}\r\nX: ${"y".repeat(17_000)}\r\n\r\n\r\n`;
  for (const before of [many, wide, head, field("a", "x".repeat(65_537)), `${"p".repeat(70_000)}\r\n`]) {
    const sent = body(Buffer.from("x"), { before });
    await expect(read(sent, 4096)).rejects.toThrow(/too long|too many/);
  }
  for (const after of [`\r\n${many}--${boundary}--`, `${tail}${"more ".repeat(40_000)}`])
    await expect(read(body(Buffer.from("x"), { after }), 4096)).rejects.toThrow(/too long|too many/);
});

test("text before the first boundary and after the last one is ignored", async () => {
  const after = `\r\n${field("d", "1")}--${boundary}--\r\nAn epilogue.\r\n${field("e", "2")}--${boundary}--`;
  for (const size of [1, 7, 1000])
    expect(await read(body(Buffer.from("x"), { before: "A preamble.\r\n", after }), size)).toEqual({
      events: ["file file a b.png", "d=1", "end"],
      content: "x",
    });
});

test("the text of a field is UTF-8 without U+0000", () => {
  expect(fieldText("a", Buffer.from("ä\n"))).toBe("ä\n");
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0]])
    expect(() => fieldText("a", Buffer.from(bytes))).toThrow("body.a");
});

test("boundaries and names are read as browsers and tools write them", () => {
  expect(boundaryOf('multipart/form-data; boundary="a b"')).toBe("a b");
  expect(boundaryOf("Multipart/Form-Data; charset=utf-8; boundary=xyz")).toBe("xyz");
  for (const other of [undefined, "image/png", "multipart/form-data-x", "multipart/mixed; boundary=x"])
    expect(boundaryOf(other)).toBeNull();
  for (const without of ["", "; boundary=", `; boundary=${"x".repeat(71)}`, '; boundary="', "; aboundary=x"])
    expect(() => boundaryOf(`multipart/form-data${without}`)).toThrow("has no boundary");
  expect(filenameOf('form-data; name="f"; filename="a\\"b.png"')).toBe('a"b.png');
  expect(filenameOf("attachment; filename=plain.txt")).toBe("plain.txt");
  expect(filenameOf("attachment; filename=\"x\"; filename*=UTF-8''%C3%A4.txt")).toBe("ä.txt");
  expect(filenameOf("attachment; filename*=UTF-8''%C3; filename=\"y\"")).toBe("y");
  expect(filenameOf("attachment; filename*=UTF-8'de'%C3%A4.txt")).toBe("ä.txt");
  expect(filenameOf("form-data; name=x")).toBeNull();
});

test("the name of a file is UTF-8, or Latin-1 if its bytes are not UTF-8; sent twice it must be the same", async () => {
  const nameOf = async (lines: string[], encoding: BufferEncoding) => {
    const head = lines.map((line) => `Content-Disposition: form-data; name="file"; filename="${line}"`);
    const bytes = [`--${boundary}\r\n${head.join("\r\n")}\r\n\r\n`, `a\r\n--${boundary}--\r\n`];
    const part = await readFilePart(cut(Buffer.from(bytes.join(""), encoding), 9), boundary);
    await whole(part.bytes);
    return part.filename;
  };
  expect(await nameOf(["Übersicht.png"], "utf8")).toBe("Übersicht.png");
  expect(await nameOf(["Übersicht.png"], "latin1")).toBe("Übersicht.png");
  expect(await nameOf(["a.png", "a.png"], "utf8")).toBe("a.png");
  await expect(nameOf(["a.png", "b.png"], "utf8")).rejects.toThrow("content-disposition twice");
});
