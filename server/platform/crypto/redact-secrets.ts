import type { Secret } from "@/server/platform/crypto/secret";
import { formsOf } from "@/server/platform/crypto/secret-forms";

/*
 * Takes the credentials of a call out of what its server says back: a vendor, or a proxy before it, that echoes one would
 * hand it to the caller.
 */

/** Shorter ones are what people write where a server wants none (`not-needed`): words an answer may well have. */
const LEAST_SECRET = 20;
/** So much of a secret is not an ordinary word any more. */
const TELLING = 12;
/** What is shorter is in many words. */
const LEAST_RECOGNIZED = 4;

type Credentials = Readonly<Record<string, Secret>>;
type Word = { text: string; inJson: string; hidden: string };

const known = new WeakMap<Secret, Word[]>();

/** A secret in every form it may be written in. */
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

/** All forms of all of them, the longest first, so that one is not taken for another that it begins with. */
function wordsOf(credentials: Credentials): Word[] {
  return Object.values(credentials)
    .filter((secret) => secret.reveal().length >= LEAST_SECRET)
    .flatMap(formsIn)
    .sort((a, b) => b.text.length - a.text.length);
}

/** JSON without the credentials. */
export function redactJson(json: string, credentials: Credentials): string {
  return wordsOf(credentials).reduce((clean, { inJson, hidden }) => clean.replaceAll(inJson, hidden), json);
}

/** Does this text reveal the secret: so many of its characters in any form, or a short one whole? */
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
 * A server's words about an account without any piece of its credentials. Stricter than what an answer is held to: short
 * credentials are taken out too, and so is a part of a long one.
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

/** The same of a value that is JSON. */
export function redactValue<T>(value: T, credentials: Credentials): T {
  const plain = JSON.stringify(value);
  const clean = redactJson(plain, credentials);
  return clean === plain ? value : JSON.parse(clean);
}

/**
 * Text without the credentials, however it is cut into pieces. A piece is passed on at once, but for an end that may be the
 * beginning of a credential: that waits for what follows it, or for the end.
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
    /** Tells what waited. Not for an answer that broke off: what waited may be most of a credential. */
    end(): void {
      tellAny(takeAll(true));
    },
  };
}
