import type { Answer } from "@/testing/tenant-matrix/operations";

const ANY_ID = /\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g;
const OF_EACH_ANSWER = ["x-request-id", "ratelimit-remaining", "ratelimit-reset", "etag", "content-length"];

/** A response without the requested value, and without ids, hashes and times that always differ. */
export function comparable({ status, text, headers }: Answer, value: string) {
  const plain = (words: string) =>
    words
      .replaceAll(value, "<it>")
      .replaceAll(value.toLowerCase(), "<it>")
      .replaceAll(ANY_ID, "<id>")
      .replaceAll(/\b[0-9a-f]{32,64}\b|sha256-[\w+/]{43}=/g, "<hash>")
      .replaceAll(/\bcapp_\w+/g, "<token>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  const kept = Object.entries(headers).filter(([name]) => !OF_EACH_ANSWER.includes(name));
  return {
    status,
    text: plain(text),
    headers: kept.map(([name, words]) => `${name}: ${plain(words)}`).sort(),
  };
}

/** Ids and marks of others that occur in a response, except the requested value. */
export function leaksIn(
  { text, headers }: Answer,
  value: string,
  { ids, marks }: { ids: Set<string>; marks: string[] },
) {
  const whole = `${JSON.stringify(headers)}\n${text}`;
  const rest = whole.replaceAll(value, "").replaceAll(value.toLowerCase(), "");
  return [
    ...[...whole.matchAll(ANY_ID)]
      .map(([id]) => id)
      .filter((id) => ids.has(id) && id !== value.toLowerCase()),
    ...marks.filter((mark) => rest.includes(mark)),
  ];
}
