const FILLERS = new Set(
  "a an and are as at be but by can do does for from has have how i if in into is it its me my no not of on one or our please so than that the their then there these this to two was we what when where which who why will with would write you your".split(
    " ",
  ),
);

/** Up to four significant words of a text, in its own order: the longest ones. */
export function topicOf(text: string): string[] {
  const found = [...new Set(text.slice(0, 4_000).match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [])].map((word) =>
    word.slice(0, 24),
  );
  const words = found.filter((word) => !FILLERS.has(word.toLowerCase()));
  const chosen = new Set([...words].sort((a, b) => b.length - a.length).slice(0, 4));
  return words.filter((word) => chosen.has(word));
}
