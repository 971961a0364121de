/** `service_principal` as `service principal`; null for empty. */
export function words(text: string | null | undefined): string | null {
  return text ? text.replaceAll("_", " ") : null;
}

/** `inputTokens` as `Input tokens`. */
export function spaced(name: string): string {
  const lower = name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

/** `key.rotated` as `Key rotated`: the code of an event or an act, for reading. */
export const wordsOfCode = (code: string): string => spaced(code.replaceAll(/[._]/g, " "));
