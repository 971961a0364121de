import type { Secret } from "@/server/secret";

/*
 * Takes the credentials of a call out of what its server says back: a vendor, or a proxy before it, that echoes one would
 * hand it to whoever asked.
 */

/** Shorter ones are what people write where a server wants none (`not-needed`): words an answer may well have. */
const LEAST_SECRET = 20;
/** So much of a secret at the end of an answer is not an ordinary word any more. */
const TELLING = 12;

type Credentials = Readonly<Record<string, Secret>>;
type Word = { text: string; hidden: string };

/** As they stand in plain text, the longest first, so that one is not taken for another that it begins with. */
function wordsOf(credentials: Credentials): Word[] {
  return Object.values(credentials)
    .map((secret) => ({ text: secret.reveal(), hidden: String(secret) }))
    .filter(({ text }) => text.length >= LEAST_SECRET)
    .sort((a, b) => b.text.length - a.text.length);
}

/** JSON without the credentials. */
export function redactJson(json: string, credentials: Credentials): string {
  return wordsOf(credentials).reduce(
    (clean, { text, hidden }) => clean.replaceAll(JSON.stringify(text).slice(1, -1), hidden),
    json,
  );
}

/** The same of a value that is JSON. */
export function redactValue<T>(value: T, credentials: Credentials): T {
  const plain = JSON.stringify(value);
  const clean = redactJson(plain, credentials);
  return clean === plain ? value : JSON.parse(clean);
}

/**
 * Text without the credentials, however it is cut into pieces. A piece is told at once, but for an end that may be the
 * beginning of a credential: that waits for what follows it, or for the end.
 */
export function redactStream(credentials: Credentials, tell: (text: string) => void) {
  const words = wordsOf(credentials);
  const longest = words[0]?.text.length ?? 0;
  let held = "";

  const tellAny = (text: string) => {
    if (text !== "") tell(text);
  };

  function takeAll(isEnd: boolean): string {
    let clean = "";
    let at = 0;
    if (longest === 0) [clean, at] = [held, held.length];
    while (at < held.length) {
      const left = held.length - at;
      const begun =
        left < longest && words.find(({ text }) => text.length > left && text.startsWith(held.slice(at)));
      if (begun && !isEnd) break;
      if (begun && left >= TELLING) {
        clean += begun.hidden;
        at = held.length;
        break;
      }
      const whole = words.find(({ text }) => held.startsWith(text, at));
      clean += whole ? whole.hidden : held[at];
      at += whole ? whole.text.length : 1;
    }
    held = held.slice(at);
    return clean;
  }

  return {
    push(text: string): void {
      held += text;
      tellAny(takeAll(false));
    },
    /** Tells what waited. Not for an answer that broke off: what waited may be most of a credential. */
    end(): void {
      tellAny(takeAll(true));
    },
  };
}
