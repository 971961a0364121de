import { expect, test } from "vitest";
import { namedBy } from "./routes";
import type { Target } from "./targets";

/** Returns as much of a target as its names need. */
const target = (provider: string, id: string) => ({ provider: { name: provider }, model: { id } }) as Target;

const TARGETS = [
  target("openai", "gpt-5"),
  target("openai-compatible", "openai/gpt-5"),
  target("openai-compatible:gpu-lab", "llama-3"),
  target("openai-compatible", "llama-3"),
];
const named = (wish: Parameters<typeof namedBy>[0], targets = TARGETS) =>
  namedBy(wish, targets).map(({ provider, model }) => `${provider.name} ${model.id}`);

test("a preferred model is matched by its id, and otherwise as provider/model", () => {
  expect(named({ preferredModel: "gpt-5" })).toEqual(["openai gpt-5"]);
  expect(named({ preferredModel: "openai-compatible:gpu-lab/llama-3" })).toEqual([
    "openai-compatible:gpu-lab llama-3",
  ]);
  expect(named({ preferredModel: "llama-3" })).toHaveLength(2);
  expect(named({ preferredModel: "openai/gone" })).toEqual([]);
});

test("a preferred model is matched by an id in the form of a route before the route of that name", () => {
  expect(named({ preferredModel: "openai/gpt-5" })).toEqual(["openai-compatible openai/gpt-5"]);
  expect(named({ preferredModel: "openai/gpt-5", providerPin: "openai" })).toEqual(["openai gpt-5"]);
  expect(named({ preferredModel: "openai/gpt-5" }, TARGETS.slice(0, 1))).toEqual(["openai gpt-5"]);
});
