import { expect, test } from "vitest";
import { saysSame } from "./sameness";

test.each<[string | number, string]>([
  ["Acme GmbH", "ACME  GmbH."],
  ["Ada Lovelace", "\n Ada\tLovelace "],
  ["office", "o\ufb03ce"],
  ["yes", "Yes."],
  ["1234.5", "1,234.50"],
  ["1,234.50", "1234.5"],
  ["1.234,50", "1,234.50"],
  ["1 234,50 EUR", "€1,234.50"],
  ["1'234.50 CHF", "CHF 1234.50"],
  [1234.5, "1,234.50 EUR"],
  [118.4, "118.40 EUR"],
  [118.4, "EUR118.40"],
  [1234, "1.234"],
  [-5, "−5.0"],
  [-5, "-€5"],
  [0, "0.00"],
  ["12 months", "12"],
  [12, "12 months"],
  ["19%", "19 %"],
  ["2026-03-01", "March 1, 2026"],
  ["March 1, 2026", "2026-03-01"],
  ["2026-03-01", "1st of March, 2026"],
  ["2026-03-01", "Sunday, 1 March 2026"],
  ["2026-03-01", "01.03.2026"],
  ["2026-03-01", "03/01/2026"],
  ["2026-03-01", "01/03/2026"],
  ["2026-03-01", "Mar. 1, 2026"],
  ["2026-09-03", "3 Sept 2026"],
  ["2026-03-01", "2026/3/1"],
  ["2026-03-01", "2026-03-01T09:30:00Z"],
  ["12345678901234567890", "12,345,678,901,234,567,890"],
])("%j and %j are the same", (expected, value) => expect(saysSame(expected, value)).toBe(true));

test.each<[string | number, string]>([
  ["Acme GmbH", "Acme AG"],
  ["yes", "no"],
  ["1234.5", "1,234.51"],
  [1.234, "1234"],
  ["12345.6", "123456"],
  [5, "-5"],
  ["-5 to -3", "5 to 3"],
  ["5%", "0.05"],
  ["118.40 EUR", "118.40 USD"],
  ["12 months", "12 years"],
  [12, "1, 2"],
  [12, "12 or 13"],
  [12, "not 12"],
  [1012, "10 12"],
  ["Article 5", "Article 5 shall not apply"],
  [114, "INV114"],
  ["12345678901234567890", "12345678901234567891"],
  ["2026-03-01", "March 2, 2026"],
  ["2026-03-01", "March 1, 2025"],
  ["2026-03-01", "Marble 1, 2026"],
  ["2026-02-30", "2026-03-02"],
  ["2026-03-01", "20260301"],
  ["—", "…"],
])("%j and %j differ", (expected, value) => expect(saysSame(expected, value)).toBe(false));

test("the order of the two values does not matter", () => {
  for (const [a, b] of [
    ["1,234.50", "1234.5"],
    ["5 kg", "5"],
    ["3 May 2026", "2026-05-03"],
    ["5 kg", "5 g"],
  ] as const)
    expect(saysSame(a, b)).toBe(saysSame(b, a));
});
