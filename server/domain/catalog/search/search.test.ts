import { expect, test } from "vitest";
import { allCapabilities } from "..";
import { resolutionOf } from "./decide";
import intents from "./intents.json";

const NO_MATCH = ["no_match_requestable", "no_match_not_requestable"];

/** What the search makes of an intent, in the words of the labels. */
function answerTo(intent: string): string {
  const { resolution, hits } = resolutionOf(intent);
  return resolution === "supported" ? (hits[0]?.capability.key ?? "") : resolution;
}

/** The first half, by place, is what the words were chosen for; of the second nothing is printed but its figure. */
const isHere = (label: string) =>
  NO_MATCH.includes(label) || allCapabilities.some(({ key }) => key === label);
const halves = {
  tuned: intents.filter(({ expect: wanted }, place) => place % 2 === 0 && isHere(wanted)),
  heldOut: intents.filter(({ expect: wanted }, place) => place % 2 === 1 && isHere(wanted)),
};

const accuracy = (rows: typeof intents) =>
  rows.filter(({ intent, expect: wanted }) => answerTo(intent) === wanted).length / rows.length;

test("the labels name every capability and both ways of finding none", () => {
  expect(intents).toHaveLength(120);
  expect(intents.filter(({ expect: wanted }) => NO_MATCH.includes(wanted))).toHaveLength(20);
});

test("of the intents nobody tuned for, nine of ten find their capability, or that there is none", () => {
  for (const { intent, expect: wanted } of halves.tuned) {
    const got = answerTo(intent);
    if (got !== wanted) console.info(`tuned half: "${intent}" → ${got}, not ${wanted}`);
  }
  const [tuned, heldOut] = [accuracy(halves.tuned), accuracy(halves.heldOut)];
  console.info(`top-1 accuracy: tuned half ${percent(tuned)}, held-out half ${percent(heldOut)}`);
  expect(heldOut).toBeGreaterThanOrEqual(0.9);
});

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
