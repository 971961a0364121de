import { stemmer } from "stemmer";
import { expect, test } from "vitest";
import { allCapabilities } from "..";
import { resolveIntent } from "./decide";
import intents from "./intents.json";
import { NEIGHBOURS } from "./neighbours";
import training from "./training.json";
import { normalize } from "./words";

const NO_MATCH = ["no_match_requestable", "no_match_not_requestable"];

/** Returns the result of the search for an intent in the vocabulary of the labels. */
function answerTo(intent: string): string {
  const { resolution, hits } = resolveIntent(intent);
  return resolution === "supported" ? (hits[0]?.capability.key ?? "") : resolution;
}

/**
 * The words were tuned on the training intents and on every second labelled intent. The other half only
 * measures the accuracy.
 */
const sets = {
  training,
  tuned: intents.filter((_, place) => place % 2 === 0),
  heldOut: intents.filter((_, place) => place % 2 === 1),
};

const accuracy = (rows: typeof intents) =>
  rows.filter(({ intent, expect: wanted }) => answerTo(intent) === wanted).length / rows.length;

test("the labels name every capability and both ways of finding none", () => {
  expect(intents).toHaveLength(120);
  expect(intents.filter(({ expect: wanted }) => NO_MATCH.includes(wanted))).toHaveLength(20);
  expect(training.length).toBeGreaterThanOrEqual(120);
  const labels = new Set(training.map(({ expect: wanted }) => wanted));
  expect(labels).toEqual(new Set([...NO_MATCH, ...allCapabilities.map(({ key }) => key)]));
});

test("no intent that measures accuracy is a training intent", () => {
  const measured = new Set(intents.map(({ intent }) => intent.toLowerCase()));
  expect(training.some(({ intent }) => measured.has(intent.toLowerCase()))).toBe(false);
});

const stemsOf = (phrase: string) => normalize(phrase).trim().split(" ").map(stemmer).join(" ");

test("no rule for a missing capability has a phrase that is a capability's own name", () => {
  const named = new Map(
    allCapabilities.flatMap(({ key, title, synonyms, taskTags }) =>
      [title, key.replace(/\.v\d+$/, ""), ...synonyms, ...taskTags].map(
        (name) => [stemsOf(name), key] as const,
      ),
    ),
  );
  const stale = NEIGHBOURS.flatMap(({ name, words }) =>
    [name, ...words.split(",")].flatMap((phrase) => {
      const key = named.get(stemsOf(phrase));
      return key ? [`${name}: "${phrase.trim()}" is ${key}`] : [];
    }),
  );
  expect(stale).toEqual([]);
});

test("no rule for a missing capability hides a capability from its own example intents", () => {
  const hidden = allCapabilities.flatMap(({ key, intentExamples }) =>
    intentExamples.filter(
      (intent) => !resolveIntent(intent).hits.some(({ capability }) => capability.key === key),
    ),
  );
  expect(hidden).toEqual([]);
});

test.each([
  ["nearest neighbours", "text.embed.v1"],
  ["nearest neighbors", "text.embed.v1"],
  ["retrieval", "text.embed.v1"],
  ["vector index", "text.embed.v1"],
  ["a floor plan turned into a walkthrough video", "no_match_requestable"],
  ["turn slides into a video", "no_match_requestable"],
  ["a walkthrough video of a modern kitchen", "video.generate.v1"],
])("the intent %j resolves to %s", (intent, wanted) => {
  expect(answerTo(intent)).toBe(wanted);
});

test("nine of ten untuned intents find their capability, or that there is none", {
  tags: "long",
}, () => {
  for (const name of ["training", "tuned"] as const)
    for (const { intent, expect: wanted } of sets[name]) {
      const got = answerTo(intent);
      if (got !== wanted) console.info(`${name}: "${intent}" → ${got}, not ${wanted}`);
    }
  const heldOut = accuracy(sets.heldOut);
  console.info(
    `top-1 accuracy: training ${percent(accuracy(training))}, tuned half ${percent(accuracy(sets.tuned))}, held-out half ${percent(heldOut)}`,
  );
  expect(heldOut).toBeGreaterThanOrEqual(0.9);
});

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
