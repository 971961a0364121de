/**
 * The key under which all spellings of a name are equal: NFC, in lower case by Unicode's language-independent
 * mapping.
 */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
