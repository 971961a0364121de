/** What makes a name one, however it is written: NFC, in lower case by Unicode's own mapping, of no language. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
