import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { PDFString, StandardFonts } from "pdf-lib";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { findProgram, type Program } from "@/server/platform/threads/thread-program";
import { startPool } from "@/server/platform/threads/threads";
import { makeLockedPdf, makePdf } from "@/testing/pdf";
import { closeDocumentPool, MAX_CHARACTERS, MAX_PAGES, readPdf } from ".";
import type { PdfAnswer, PdfQuestion } from "./worker";

afterAll(closeDocumentPool);

const poolOf = (program: Program, deadlineMs: number, maxCharacters = MAX_CHARACTERS) => {
  const size = 1;
  const pool = startPool<PdfQuestion, PdfAnswer>({
    name: "documents",
    program,
    size,
    deadlineMs,
    memoryMb: 512,
  });
  onTestFinished(() => pool.close());
  return (bytes: Uint8Array) => pool.run({ bytes, maxPages: MAX_PAGES, maxCharacters });
};

/** A page whose letters are codes of a character table that is not in the file. */
function makeJapanesePdf() {
  return makePdf(["x"], ({ context }, [page]) => {
    const descendant = context.register(
      context.obj({
        Type: "Font",
        Subtype: "CIDFontType0",
        BaseFont: "HeiseiMin-W3",
        FontDescriptor: { Type: "FontDescriptor", FontName: "HeiseiMin-W3", Flags: 4 },
        CIDSystemInfo: { Registry: PDFString.of("Adobe"), Ordering: PDFString.of("Japan1"), Supplement: 2 },
      }),
    );
    const font = context.register(
      context.obj({
        Type: "Font",
        Subtype: "Type0",
        BaseFont: "HeiseiMin-W3",
        Encoding: "UniJIS-UCS2-H",
        DescendantFonts: [descendant],
      }),
    );
    const name = page?.node.newFontDictionary("F", font);
    const stream = context.stream(`BT ${name} 12 Tf 50 500 Td <65E5672C> Tj ET`);
    page?.node.addContentStream(context.register(stream));
  });
}

test("text is returned page by page and line by line, empty pages included", async () => {
  const pdf = await makePdf(["Invoice 2026-114\nTotal: 1,234.50 EUR", "", "Signed by\nAda Lovelace"]);
  expect(await readPdf(pdf)).toEqual({
    pages: ["Invoice 2026-114\nTotal: 1,234.50 EUR", "", "Signed by\nAda Lovelace"],
  });
});

test("ligatures and soft hyphens of a font are read as text", async () => {
  const pdf = await makePdf(["x"], async (document, [page]) => {
    const font = await document.embedFont(StandardFonts.TimesRoman);
    // As typesetters write it: one glyph of the font for two letters, and a soft hyphen.
    page?.drawText("agree\u00adment", { x: 50, y: 600, font });
    const name = page?.node.newFontDictionary(
      "F",
      document.context.register(
        document.context.obj({
          Type: "Font",
          Subtype: "Type1",
          BaseFont: "Times-Roman",
          Encoding: { Type: "Encoding", Differences: [65, "fi"] },
        }),
      ),
    );
    const stream = document.context.stream(`BT ${name} 12 Tf 50 500 Td (Aling) Tj ET`);
    page?.node.addContentStream(document.context.register(stream));
  });
  const read = await readPdf(pdf);
  if ("refusal" in read) throw new Error(read.refusal);
  expect(read.pages[0]).toMatch(/filing/);
  expect(read.pages[0]).toMatch(/agree[\u00ad-]?ment/);
});

test("text in an East Asian encoding is read with the library's tables", async () => {
  expect(await readPdf(await makeJapanesePdf())).toEqual({ pages: [expect.stringContaining("日本")] });
});

test.each<[string, () => Promise<Uint8Array>, RegExp]>([
  ["no PDF at all", async () => Buffer.from("A letter"), /not a PDF/],
  ["nothing", async () => Buffer.alloc(0), /not a PDF/],
  ["a head alone", async () => Buffer.from("%PDF-1.7\n%%EOF"), /damaged/],
  ["a locked one", makeLockedPdf, /encrypted/],
  ["pages without text", () => makePdf(["", ""]), /no text/],
  ["too many pages", () => makePdf(Array(MAX_PAGES + 1).fill("x")), /more than 300 pages/],
])("%s is refused with its reason", async (_case, make, reason) => {
  expect(await readPdf(await make())).toEqual({ refusal: expect.stringMatching(reason) });
});

test("a PDF with too much text is refused", async () => {
  const read = poolOf(await findProgram("documents"), 15_000, 10);
  expect(await read(await makePdf(["12345", "12345"]))).toMatchObject({ state: "done" });
  expect(await read(await makePdf(["12345", "123456"]))).toEqual({
    state: "refused",
    reason: "too_much_text",
  });
});

test("a PDF truncated anywhere is refused, and the thread keeps serving", async () => {
  const pdf = await makePdf(["One", "Two", "Three"]);
  for (let length = 0; length < pdf.byteLength - 8; length += 97)
    expect(await readPdf(pdf.subarray(0, length))).toHaveProperty("refusal");
  expect(await readPdf(pdf)).toEqual({ pages: ["One", "Two", "Three"] });
});

test("a PDF with any bytes changed is read or refused", async () => {
  const pdf = await makePdf(["One", "Two"]);
  for (let at = 0; at < pdf.byteLength; at += 61) {
    const broken = Buffer.from(pdf);
    broken.fill(0x39, at, at + 7);
    const read = await readPdf(broken);
    if ("pages" in read) expect(read.pages.length).toBeGreaterThan(0);
    else expect(read.refusal).toMatch(/PDF/);
  }
});

test("reading a PDF leaves the caller's bytes usable", async () => {
  const pdf = await makePdf(["One"]);
  const before = Buffer.from(pdf);
  await readPdf(pdf);
  expect(Buffer.compare(before, pdf)).toBe(0);
});

test("a PDF that exceeds the deadline is given up, and the next one is read", {
  tags: "long",
}, async () => {
  const read = poolOf(await findProgram("documents"), 4_000);
  // Each form draws the next one twice, thirty deep: a billion words in a few kilobytes.
  const bomb = await makePdf(["x"], ({ context }, [page]) => {
    const font = context.register(context.obj({ Type: "Font", Subtype: "Type1", BaseFont: "Helvetica" }));
    const form = (content: string, resources: object) =>
      context.register(
        context.stream(content, {
          Type: "XObject",
          Subtype: "Form",
          BBox: [0, 0, 99, 99],
          Resources: context.obj(resources as never), // holds names and references only
        }),
      );
    let inner = form("BT /F 9 Tf 9 9 Td (word) Tj ET", { Font: { F: font } });
    for (let depth = 0; depth < 30; depth++) inner = form("/X Do /X Do", { XObject: { X: inner } });
    const name = page?.node.newXObject("X", inner);
    page?.node.addContentStream(context.register(context.stream(`${name} Do`)));
  });
  expect(await read(bomb)).toEqual({ state: "stopped", by: "deadline" });
  expect(await read(await makePdf(["Next"]))).toEqual({ state: "done", pages: ["Next"] });
});

test("the built program reads PDF files from any folder, with the library's own tables", async () => {
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "documents-worker.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "worker.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  const read = poolOf({ file }, 15_000);
  expect(await read(await makePdf(["One", "Two"]))).toEqual({ state: "done", pages: ["One", "Two"] });
  expect(await read(await makeJapanesePdf())).toMatchObject({ pages: [expect.stringContaining("日本")] });
});
