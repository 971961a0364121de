/** Number of Unicode characters in a text; unpaired halves count as one each. Makes no list of them, however long the text is. */
export function charactersOf(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}
