import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { serveThread } from "@/server/platform/threads/thread-serve";

/* Reads the text of untrusted PDF files, on a thread that can be terminated. */

export type Refusal =
  | "not_pdf"
  | "cut"
  | "encrypted"
  | "unreadable"
  | "no_text"
  | "too_many_pages"
  | "too_much_text";
export type PdfAnswer = { state: "done"; pages: string[] } | { state: "refused"; reason: Refusal };
export type PdfQuestion = { bytes: Uint8Array; maxPages: number; maxCharacters: number };

type PdfJs = typeof import("pdfjs-dist/legacy/build/pdf.mjs");

// Resolved at run time, from the working directory: this program may run from a string, without a file.
const found = createRequire(join(process.cwd(), "package.json")).resolve("pdfjs-dist/legacy/build/pdf.mjs");
const home = join(dirname(found), "..", "..");
const loading: Promise<PdfJs> = import(pathToFileURL(found).href);

/** Bytes at either end of a file within which the format's markers must be. */
const MARGIN = 1024;

async function read({ bytes, maxPages, maxCharacters }: PdfQuestion): Promise<PdfAnswer> {
  const has = (part: Uint8Array, mark: string) => Buffer.from(part).includes(mark);
  if (!has(bytes.subarray(0, MARGIN), "%PDF-")) return { state: "refused", reason: "not_pdf" };
  // The library would repair a truncated file, and missing pages could go unnoticed.
  if (!has(bytes.subarray(-MARGIN), "%%EOF")) return { state: "refused", reason: "cut" };
  const { getDocument } = await loading;
  const task = getDocument({
    data: bytes,
    verbosity: 0,
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    stopAtErrors: true, // otherwise missing text would go unnoticed
    cMapUrl: join(home, "cmaps/"),
    standardFontDataUrl: join(home, "standard_fonts/"),
  });
  try {
    const file = await task.promise;
    if (file.numPages > maxPages) return { state: "refused", reason: "too_many_pages" };
    const pages: string[] = [];
    let characters = 0;
    for (let number = 1; number <= file.numPages; number++) {
      const page = await file.getPage(number);
      const { items } = await page.getTextContent();
      const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
      characters += text.length;
      if (characters > maxCharacters) return { state: "refused", reason: "too_much_text" };
      pages.push(storable(text));
      page.cleanup();
    }
    if (pages.every((text) => text.trim() === "")) return { state: "refused", reason: "no_text" };
    return { state: "done", pages };
  } catch (error) {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    return { state: "refused", reason: isLocked ? "encrypted" : "unreadable" };
  } finally {
    await task.destroy().catch(() => {});
  }
}

/** Replaces NUL and half surrogates, which cannot be stored; offsets do not change. */
const storable = (text: string) =>
  text
    .replaceAll("\0", "\ufffd")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

loading.then(() => serveThread(read));
