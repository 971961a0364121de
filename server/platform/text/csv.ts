/** A value of a table: text that a person or a caller may have written, or a figure of ours. */
export type Cell = { text: string } | { figure: string } | null;

/** Beginnings of cells that a spreadsheet reads as a formula: the list of OWASP (CSV injection) with the full-width signs. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Writes one line by RFC 4180. Text that a spreadsheet would read as a formula gets an apostrophe in front; figures are ours and
 * may begin with a minus.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(toField).join(",")}\r\n`;
}

function toField(cell: Cell): string {
  if (cell === null) return "";
  if ("figure" in cell) return cell.figure;
  const safe = FORMULA.test(cell.text) ? `'${cell.text}` : cell.text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes micros as an exact decimal of dollars, in integers only: 1234500 is `1.2345`. */
export function decimalOf(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0+$/, "");
  return `${micros < 0 ? "-" : ""}${digits.slice(0, -6)}${fraction && `.${fraction}`}`;
}
