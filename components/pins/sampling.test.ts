import { expect, test } from "vitest";
import { toSampling } from "./sampling";

test("what is left empty is not sent, and without anything there is no sampling at all", () => {
  expect(toSampling({}, ["temperature", "seed"])).toBeUndefined();
  expect(toSampling({ temperature: "  ", seed: "" }, ["temperature", "seed"])).toBeUndefined();
  expect(toSampling({ temperature: "0" }, ["temperature", "seed"])).toEqual({ temperature: 0 });
});

test("what another pin could say, and this one cannot, stays out", () => {
  expect(toSampling({ temperature: "1", topK: "40" }, ["temperature"])).toEqual({ temperature: 1 });
});

test("numbers are numbers, lines are a list, words stay words", () => {
  expect(
    toSampling(
      { maxOutputTokens: "64", stop: "END\n\nSTOP", reasoningEffort: " low ", thinking: "disabled" },
      ["maxOutputTokens", "stop", "reasoningEffort", "thinking"],
    ),
  ).toEqual({ maxOutputTokens: 64, stop: ["END", "STOP"], reasoningEffort: "low", thinking: "disabled" });
  expect(toSampling({ seed: "many" }, ["seed"])).toEqual({ seed: "many" });
});
