import { charactersOf } from "@/server/platform/text/characters";

/*
 * A key belongs to an operation of a project in one environment. The unique indexes know no environment: they are those of
 * 0.2.0, whose processes write them too. So a key is stored as it was sent, and where a row of another environment has it, under
 * a spelling of its own environment that no caller can send. No row gives its key back: a key that clashed once clashes again,
 * and is found then.
 */

/** As `IdempotencyKey` of the contract has it. */
export const MOST_KEY_CHARACTERS = 255;

/** A key as its caller spells it. */
export type SentKey = {
  key: string;
  /** How 0.2.0 stored the header that it came in, where that differs. */
  former?: string;
};

/**
 * The spelling of a key that is stored where a row of another environment has the key: longer than a caller's may be. Blanks
 * fill it up, since no key ends with one.
 */
function spellingIn(environment: string, key: string): string {
  const named = `${environment}/${key}`;
  return named + " ".repeat(Math.max(0, MOST_KEY_CHARACTERS + 1 - charactersOf(named)));
}

/** The key of a row as its caller sent it. */
export function callersKey(environment: string, stored: string): string {
  const prefix = `${environment}/`;
  return stored.startsWith(prefix) && charactersOf(stored) > MOST_KEY_CHARACTERS
    ? stored.slice(prefix.length).trimEnd()
    : stored;
}

/** Under what a key may be stored, the most likely first. */
export function spellingsOf({ key, former }: SentKey, environment: string | null): string[] {
  return [
    key,
    ...(environment === null ? [] : [spellingIn(environment, key)]),
    ...(former === undefined ? [] : [former]),
  ];
}

/** Under what jobs of these environments have a key that is looked for: also as 0.2.0 read it from a header in UTF-8 or in quotes. */
export function soughtSpellings(key: string, environments: readonly string[]): string[] {
  const quoted = `"${key}"`;
  const former = [key, quoted].map((text) => Buffer.from(text, "utf8").toString("latin1").trim());
  return [...new Set([key, ...former, quoted, ...environments.map((each) => spellingIn(each, key))])];
}

/** A row that has one of the spellings of a key; `environment`: null where its kind has none. */
export type Holder = { spelling: string; environment: string | null };

/** Which of these rows a key belongs to in this environment, and under which spelling it is stored if none. */
export function holderOf<H extends Holder>(
  holders: readonly H[],
  sent: SentKey,
  environment: string | null,
): { first: H | null; spelling: string } {
  const own = holders.filter((holder) => holder.environment === environment);
  const [first = null] = spellingsOf(sent, environment).flatMap((spelling) =>
    own.filter((holder) => holder.spelling === spelling),
  );
  const isTaken = holders.some(
    (holder) => holder.environment !== environment && holder.spelling === sent.key,
  );
  return {
    first,
    spelling: isTaken && environment !== null ? spellingIn(environment, sent.key) : sent.key,
  };
}
