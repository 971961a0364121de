import type { Secret } from "@/server/platform/crypto/secret";
import { formsOf } from "@/server/platform/crypto/secret-forms";

/*
 * Removes the credentials of a call from its server's reply: a vendor, or a proxy in front of it, that echoes one would hand it
 * to the caller.
 */

/**
 * Shorter credentials are placeholders such as `not-needed`, for servers that need none, and may be ordinary words of an answer.
 */
const LEAST_SECRET = 20;
/** Length from which a piece of a secret is no ordinary word. */
const TELLING = 12;
/** Shorter values occur in many words. */
const LEAST_RECOGNIZED = 4;

type Credentials = Readonly<Record<string, Secret>>;
type Word = { text: string; inJson: string; hidden: string };

const known = new WeakMap<Secret, Word[]>();

/** A secret in every form in which it may be written. */
function formsIn(secret: Secret): Word[] {
  const found = known.get(secret);
  if (found) return found;
  const forms = new Set(formsOf(secret.reveal()).map(([, text]) => text));
  const words = [...forms].map((text) => ({
    text,
    inJson: JSON.stringify(text).slice(1, -1),
    hidden: String(secret),
  }));
  known.set(secret, words);
  return words;
}

/** All forms of the credentials that are no placeholders, the longest first, because one may begin with another. */
function wordsOf(credentials: Credentials): Word[] {
  return Object.values(credentials)
    .filter((secret) => secret.reveal().length >= LEAST_SECRET)
    .flatMap(formsIn)
    .sort((a, b) => b.text.length - a.text.length);
}

/** Removes the credentials from a JSON text, except those shorter than LEAST_SECRET. */
export function redactJson(json: string, credentials: Credentials): string {
  return wordsOf(credentials).reduce((clean, { inJson, hidden }) => clean.replaceAll(inJson, hidden), json);
}

/** True if the text reveals the secret: TELLING characters of any of its forms, or a shorter secret whole. */
export function tells(text: string, secret: Secret): boolean {
  const value = secret.reveal();
  if (value.length < LEAST_RECOGNIZED) return false;
  if (value.length < TELLING) return text.includes(value);
  const forms = formsIn(secret);
  for (let at = 0; at + TELLING <= text.length; at++) {
    const piece = text.slice(at, at + TELLING);
    if (forms.some((form) => form.text.includes(piece))) return true;
  }
  return false;
}

/**
 * Removes an account's credentials from a server's message. Stricter than `redactJson`: pieces of TELLING characters or more, and
 * whole credentials from LEAST_RECOGNIZED characters, are removed too.
 */
export function redactWords(text: string, credentials: Credentials): string {
  return Object.values(credentials).reduce(withoutPieces, text);
}

function withoutPieces(text: string, secret: Secret): string {
  const value = secret.reveal();
  if (value.length < LEAST_RECOGNIZED) return text;
  if (value.length < TELLING) return text.replaceAll(value, String(secret));
  const forms = formsIn(secret);
  let clean = "";
  let [shownTo, hiddenTo] = [0, 0];
  for (let at = 0; at + TELLING <= text.length; at++) {
    const piece = text.slice(at, at + TELLING);
    if (!forms.some((form) => form.text.includes(piece))) continue;
    if (at >= hiddenTo) clean += text.slice(shownTo, at) + String(secret);
    shownTo = hiddenTo = at + TELLING;
  }
  return clean + text.slice(shownTo);
}

/** Removes the credentials from a JSON value; returns the same value if it has none. */
export function redactValue<T>(value: T, credentials: Credentials): T {
  const plain = JSON.stringify(value);
  const clean = redactJson(plain, credentials);
  return clean === plain ? value : JSON.parse(clean);
}

/**
 * Removes the credentials from streamed text, however it is cut. A piece is passed on at once, except an end that may be the
 * beginning of a credential: that waits for the next piece or for the end.
 */
export function redactStream(credentials: Credentials, tell: (text: string) => void) {
  const byFirst = new Map<string | undefined, Word[]>();
  for (const word of wordsOf(credentials))
    byFirst.set(word.text[0], [...(byFirst.get(word.text[0]) ?? []), word]);
  let held = "";

  const tellAny = (text: string) => {
    if (text !== "") tell(text);
  };

  function takeAll(isEnd: boolean): string {
    let clean = "";
    let at = 0;
    if (byFirst.size === 0) [clean, at] = [held, held.length];
    while (at < held.length) {
      const words = byFirst.get(held[at]);
      if (!words) {
        clean += held[at++];
        continue;
      }
      const left = held.length - at;
      const begun = words.find(({ text }) => text.length > left && text.startsWith(held.slice(at)));
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
    /**
     * Passes on the text that waited, but removes a long beginning of a credential. Must not be called for an answer that broke
     * off, because a short beginning would pass.
     */
    end(): void {
      tellAny(takeAll(true));
    },
  };
}
