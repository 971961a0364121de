import fc from "fast-check";
import { expect, test } from "vitest";
import { boundaryOf, filenameOf, readFilePart } from "./multipart";

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
  );
});

test("a body that is cut off anywhere is refused", async () => {
  const full = body(Buffer.from("The whole file."), { after: `\r\n--${boundary}--` });
  for (let length = 0; length < full.length; length++) {
    const read = async () => whole((await readFilePart(cut(full.subarray(0, length), 7), boundary)).bytes);
    await expect(read(), `after ${length} bytes`).rejects.toThrow("ends before its closing boundary");
  }
});

test("no file, two files and endless fields are refused", async () => {
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

test("boundaries and names as browsers and tools write them", () => {
  expect(boundaryOf('multipart/form-data; boundary="a b"')).toBe("a b");
  expect(boundaryOf("Multipart/Form-Data; charset=utf-8; boundary=xyz")).toBe("xyz");
  for (const other of [undefined, "image/png", "multipart/form-data-x", "multipart/mixed; boundary=x"])
    expect(boundaryOf(other)).toBeNull();
  for (const without of ["", "; boundary=", `; boundary=${"x".repeat(71)}`, '; boundary="', "; aboundary=x"])
    expect(() => boundaryOf(`multipart/form-data${without}`)).toThrow("names no boundary");
  expect(filenameOf('form-data; name="f"; filename="a\\"b.png"')).toBe('a"b.png');
  expect(filenameOf("attachment; filename=plain.txt")).toBe("plain.txt");
  expect(filenameOf("attachment; filename=\"x\"; filename*=UTF-8''%C3%A4.txt")).toBe("ä.txt");
  expect(filenameOf("attachment; filename*=UTF-8''%C3; filename=\"y\"")).toBe("y");
  expect(filenameOf("form-data; name=x")).toBeNull();
});
