/** First words of a comment without a subject: prepositions and question words. */
const WITHOUT_SUBJECT = /^(?:Of|By|To|From|With|What|Who|Whom|Whose|Where|Whether)\b/;

/** A run of line comments, a comment after code, or a block comment; text in strings is not told apart. */
const COMMENT =
  /^[ \t]*(\/\/[ \t].*(?:\n[ \t]*\/\/[ \t].*)*)|[;,)}\]][ \t]+(\/\/[ \t].*)|(?<=^|[\s{])(\/\*[\s\S]*?\*\/)/gm;

/** The comments of a source file that begin with such a word. */
export function withoutSubject(source: string): string[] {
  return [...source.matchAll(COMMENT)]
    .map(([, run, after, block]) => (run ?? after ?? block ?? "").replace(/^\/[/*]+[\s*]*/, ""))
    .filter((text) => WITHOUT_SUBJECT.test(text));
}
