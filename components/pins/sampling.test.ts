import { expect, test } from "vitest";
import { toSampling } from "./sampling";

test("empty fields are not sent, and without any field there is no sampling", () => {
  expect(toSampling({}, ["temperature", "seed"])).toBeUndefined();
  expect(toSampling({ temperature: "  ", seed: "" }, ["temperature", "seed"])).toBeUndefined();
  expect(toSampling({ temperature: "0" }, ["temperature", "seed"])).toEqual({ temperature: 0 });
});

test("fields that this pin does not support are left out", () => {
  expect(toSampling({ temperature: "1", topK: "40" }, ["temperature"])).toEqual({ temperature: 1 });
});

test("numbers become numbers, lines become a list, text stays text", () => {
  expect(
    toSampling(
      { maxOutputTokens: "64", stop: "END\n\nSTOP", reasoningEffort: " low ", thinking: "disabled" },
      ["maxOutputTokens", "stop", "reasoningEffort", "thinking"],
    ),
  ).toEqual({ maxOutputTokens: 64, stop: ["END", "STOP"], reasoningEffort: "low", thinking: "disabled" });
  expect(toSampling({ seed: "many" }, ["seed"])).toEqual({ seed: "many" });
});
