import { charactersOf } from "@/server/platform/text/characters";

/*
 * A key belongs to an operation of a project in one environment. The unique indexes do not include the environment,
 * because they are those of 0.2.0, whose processes write to them too. So a key is stored as it was sent, or, if a row
 * of another environment has it, under a spelling of its own environment that no caller can send. No row ever gives up
 * its key, so a repeated request looks for the same spelling and finds its row.
 */

/** The limit of `IdempotencyKey` in the contract. */
export const MOST_KEY_CHARACTERS = 255;

/** A key in its caller's spelling. */
export type SentKey = {
  key: string;
  /** The spelling that 0.2.0 stored for the header with this key, if it differs. */
  former?: string;
};

/**
 * Returns the spelling for a key that a row of another environment already has. It is longer than a caller's key may
 * be; blanks fill it up, because no key ends with one.
 */
function spellingIn(environment: string, key: string): string {
  const named = `${environment}/${key}`;
  return named + " ".repeat(Math.max(0, MOST_KEY_CHARACTERS + 1 - charactersOf(named)));
}

/** Returns the key of a row as its caller sent it. */
export function callersKey(environment: string, stored: string): string {
  const prefix = `${environment}/`;
  return stored.startsWith(prefix) && charactersOf(stored) > MOST_KEY_CHARACTERS
    ? stored.slice(prefix.length).trimEnd()
    : stored;
}

/** Returns the spellings that a key may be stored under, the most likely first. */
export function spellingsOf({ key, former }: SentKey, environment: string | null): string[] {
  return [
    key,
    ...(environment === null ? [] : [spellingIn(environment, key)]),
    ...(former === undefined ? [] : [former]),
  ];
}

/**
 * Returns every spelling that a sought key may have in jobs of these environments, including those that 0.2.0 read from
 * a header in UTF-8 or in quotes.
 */
export function soughtSpellings(key: string, environments: readonly string[]): string[] {
  const quoted = `"${key}"`;
  const former = [key, quoted].map((text) => Buffer.from(text, "utf8").toString("latin1").trim());
  return [...new Set([key, ...former, quoted, ...environments.map((each) => spellingIn(each, key))])];
}

/** A row with one of the spellings of a key. `environment` is null if rows of its kind have none. */
export type Holder = { spelling: string; environment: string | null };

/** Returns the row that the key belongs to in this environment, or null, and the spelling to store the key under. */
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
