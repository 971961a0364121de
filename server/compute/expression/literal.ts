/** A decimal as it is written: (-1)^negative × digits × 10^exponent. Trailing zeros count: 1.50 is 150 × 10^-2. */
export type Literal = {
  negative: boolean;
  /** Without leading zeros; "0" for zero. */
  digits: string;
  exponent: number;
};

/** Numbers lie between 10^-10000 and 10^10001: the first digit's power of ten is at most this in either direction. */
export const MAX_ADJUSTED_EXPONENT = 10_000;

const SHAPE = /^([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)0*([0-9]+))?$/;
// Longer exponents are out of range whatever the digits; Number would lose their last figures.
const MAX_EXPONENT_FIGURES = 9;

/** Reads a decimal, exactly. `malformed`: not a decimal. `out_of_range`: too large or too small. */
export function readLiteral(text: string): Literal | "malformed" | "out_of_range" {
  const parts = SHAPE.exec(text);
  if (!parts) return "malformed";
  const [, sign, whole = "", fraction = "", exponentSign, figures = "0"] = parts;
  if (figures.length > MAX_EXPONENT_FIGURES) return "out_of_range";
  const digits = (whole + fraction).replace(/^0+(?=.)/, "");
  const exponent = (exponentSign === "-" ? -1 : 1) * Number(figures) - fraction.length;
  if (Math.abs(exponent + digits.length - 1) > MAX_ADJUSTED_EXPONENT) return "out_of_range";
  return { negative: sign === "-", digits, exponent };
}

/**
 * Writes the to-scientific-string of General Decimal Arithmetic, as Python's `str(Decimal)` does; it reads back as the same
 * literal.
 */
export function writeLiteral({ negative, digits, exponent }: Literal): string {
  const adjusted = exponent + digits.length - 1;
  const sign = negative ? "-" : "";
  if (exponent > 0 || adjusted < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits[0]}${fraction}E${adjusted < 0 ? "-" : "+"}${Math.abs(adjusted)}`;
  }
  if (exponent === 0) return sign + digits;
  const padded = digits.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
