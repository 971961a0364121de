import { PDFDocument, PDFHexString, PDFName, type PDFPage, StandardFonts } from "pdf-lib";

/** A PDF with one page for each of these texts; their lines become the page's lines. */
export async function makePdf(
  pages: string[],
  change: (document: PDFDocument, pages: PDFPage[]) => void | Promise<void> = () => {},
): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const made = pages.map((text) => {
    const page = document.addPage();
    if (text !== "") page.drawText(text, { x: 50, y: 780, size: 12, lineHeight: 15, font });
    return page;
  });
  await change(document, made);
  return Buffer.from(await document.save({ useObjectStreams: false }));
}

/** A PDF that needs a password; no password opens it. */
export const makeLockedPdf = () =>
  makePdf(["Secret"], ({ context }) => {
    const secret = PDFHexString.of("5a".repeat(32));
    context.trailerInfo.ID = context.obj([secret, secret]);
    context.trailerInfo.Encrypt = context.register(
      context.obj({ Filter: PDFName.of("Standard"), V: 1, R: 2, P: -4, O: secret, U: secret }),
    );
  });
