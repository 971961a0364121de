import { randomFillSync } from "node:crypto";
import { z } from "zod";

/** Every kind of id: a prefix and a ULID in lower case, so that ids sort by their creation time. */
export const PREFIXES = {
  organization: "org",
  project: "cpr",
  environment: "env",
  user: "usr",
  invitation: "inv",
  session: "ses",
  deviceLogin: "dvc",
  key: "key",
  job: "wfr",
  attempt: "att",
  pinned: "pin",
  bulk: "pblk",
  correction: "pcr",
  manifest: "mft",
  artifact: "art",
  payload: "pay",
  receipt: "rcpt",
  quote: "quote",
  budget: "bud",
  hold: "hold",
  transaction: "txn",
  event: "evt",
  endpoint: "whe",
  delivery: "dlv",
  payment: "pmt",
  refund: "rfd",
  capabilityRequest: "cr",
  requestRevision: "crr",
  commissionQuote: "cq",
  adapter: "adp",
  alias: "ali",
  aliasVersion: "aliv",
  comparison: "cmp",
  comparisonEntry: "cent",
  notification: "ntf",
  mail: "mail",
  credential: "cred",
  binding: "bind",
  connectionCheck: "chk",
  onboarding: "onb",
  panelDefinition: "pdef",
  panelVersion: "pver",
  panelSession: "pses",
  launchCode: "plc",
  audit: "aud",
  request: "req",
} as const;

export type IdKind = keyof typeof PREFIXES;
export type Id<K extends IdKind> = `${(typeof PREFIXES)[K]}_${string}`;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, as in the ULID specification
let lastMs = 0;
const lastRandom = new Uint8Array(16);
/** Random bytes are drawn in bulk: one system call each time would cost more than the rest of an id. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** A ULID in lower case: 48 bits of time, 80 random bits, strictly rising within this process. */
export function ulid(nowMs = Date.now()): string {
  if (nowMs <= lastMs) {
    // Same millisecond (or a clock that stepped back): count the 80 bits up, one base-32 digit at a time.
    for (let digit = 15; digit >= 0; digit--) {
      if (lastRandom[digit]! < 31) {
        lastRandom[digit]!++;
        break;
      }
      lastRandom[digit] = 0;
    }
  } else {
    lastMs = nowMs;
    if (used === drawn.length) {
      randomFillSync(drawn);
      used = 0;
    }
    for (let digit = 0; digit < 16; digit++) lastRandom[digit] = drawn[used++]! & 31;
    lastRandom[0]! &= 15; // room to count up
  }
  let time = "";
  for (let rest = lastMs, digit = 0; digit < 10; digit++) {
    time = ALPHABET[rest % 32]! + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const digit of lastRandom) random += ALPHABET[digit];
  return time + random;
}

/** The least ULID of a moment: ids made since then are greater. */
export function ulidAt(atMs: number): string {
  let time = "";
  for (let rest = atMs, digit = 0; digit < 10; digit++) {
    time = ALPHABET[rest % 32]! + time;
    rest = Math.floor(rest / 32);
  }
  return time + ALPHABET[0]!.repeat(16);
}

/** Creation time of an id, in milliseconds. */
export function madeAt(id: string): number {
  let ms = 0;
  for (const digit of id.slice(-26, -16)) ms = ms * 32 + ALPHABET.indexOf(digit);
  return ms;
}

/** A new id of this kind, e.g. `wfr_01jd…`. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return `${PREFIXES[kind]}_${ulid()}`;
}

/** The receipt id of an execution: `rcpt_` and the ULID of the execution. */
export function receiptIdOf(executionId: string): Id<"receipt"> {
  return `${PREFIXES.receipt}_${executionId.slice(executionId.indexOf("_") + 1)}`;
}

/** Schema of an id of this kind. */
export function idSchema<K extends IdKind>(kind: K) {
  const pattern = new RegExp(`^${PREFIXES[kind]}_[0-9a-hjkmnp-tv-z]{26}$`);
  return z.custom<Id<K>>((value) => typeof value === "string" && pattern.test(value));
}
