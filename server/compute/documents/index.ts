import { threadsOf } from "@/server/platform/threads/threads";
import type { PdfAnswer, PdfQuestion, Refusal } from "./worker";

/* The text of documents, page by page. */

export const MAX_PAGES = 300;
export const MAX_CHARACTERS = 2_000_000;

const threads = threadsOf<PdfQuestion, PdfAnswer>({
  name: "documents",
  size: 1,
  deadlineMs: 20_000,
  memoryMb: 512,
});
/** Stops the thread; a later document starts it again. */
export const closeDocumentPool = threads.close;

const REASONS: Record<Refusal, string> = {
  not_pdf: "This is not a PDF.",
  cut: "The PDF is incomplete: its end is missing.",
  encrypted: "The PDF is encrypted. Provide one that opens without a password.",
  unreadable: "The PDF is damaged and cannot be read.",
  no_text: "The PDF has no text. Scanned pages cannot be read.",
  too_many_pages: `The PDF has more than ${MAX_PAGES} pages.`,
  too_much_text: `The PDF has more than ${MAX_CHARACTERS} characters of text.`,
};

/** Returns the text of each page, or a sentence that says why the PDF could not be read. Runs on a worker thread. */
export async function readPdf(bytes: Uint8Array): Promise<{ pages: string[] } | { refusal: string }> {
  const question = { bytes, maxPages: MAX_PAGES, maxCharacters: MAX_CHARACTERS };
  const answer = await threads.run(question);
  if (answer.state === "stopped") return { refusal: "Reading the PDF takes too much time or memory." };
  return answer.state === "done" ? { pages: answer.pages } : { refusal: REASONS[answer.reason] };
}
