/** `service_principal` as `service principal`; null for empty. */
export function words(text: string | null | undefined): string | null {
  return text ? text.replaceAll("_", " ") : null;
}

/** `inputTokens` as `Input tokens`. */
export function spaced(name: string): string {
  const lower = name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`).trim();
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

/**
 * The code of an event, an action or an error in plain words: `key.rotated` becomes `Key rotated`, `BudgetExceeded` becomes
 * `Budget exceeded`.
 */
export const wordsOfCode = (code: string): string =>
  spaced((code === code.toUpperCase() ? code.toLowerCase() : code).replaceAll(/[._]/g, " "));
