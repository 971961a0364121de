import { describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { type PinApi, PinRefusal, pinSettings } from "@/server/providers/pins";
import type { PinnedContent } from "../rows";
import { settingsWithoutContent } from "./still-runs";
import { type PinTarget, pinnable } from "./target";

const TOOLS = [
  { type: "function", name: "measure", parameters: { type: "object", properties: {} } },
  { type: "function", name: "guess", parameters: { type: "object", properties: {} } },
];
const CHOICES: [string, Json | undefined][] = [
  ["none", undefined],
  ["a word", "required"],
  ["a function", { type: "function", name: "measure" }],
  ["a function, wrapped", { type: "function", function: { name: "measure" } }],
];

const asked = (toolChoice: Json | undefined): PinnedContent => ({
  instructions: "Say what you measured.",
  input: "How deep is the sea?",
  sampling: { maxOutputTokens: 64 },
  tools: TOOLS,
  ...(toolChoice === undefined ? {} : { toolChoice }),
});
const planOf = ({ toolChoice, sampling }: PinnedContent) => ({
  sampling,
  ...(toolChoice === undefined ? {} : { toolChoice }),
  instructionsHash: "hash",
  toolsHash: "hash",
  tier: "standard" as const,
});

const targets = pinnable().flatMap((provider) => {
  const models =
    provider.models.length > 0 ? provider.models : (provider.modelsFrom?.("any-model:1:2") ?? []);
  const model = models.find(({ port, supports }) => port === "text" && supports.tools);
  return model
    ? Object.entries(provider.pins ?? {}).map(([name, api]) => ({ provider, name, api, model }))
    : [];
});

describe.each(targets)("$provider.name/$name without content", ({ api, model }) => {
  test.each(CHOICES)("tools with a choice of %s keep their settings", (_, choice) => {
    const request = asked(choice);
    const settings = pinSettings(api, api.body(request, model, "standard"));
    expect(settingsWithoutContent({ api, model }, planOf(request))).toEqual({ settings, kept: null });
  });
});

const [first] = targets;
/** A stricter future interface: `refuse` sees every call first and may throw. */
function strict(refuse: (call: PinnedContent) => void): Pick<PinTarget, "api" | "model"> {
  const { api, model } = first!;
  const body: PinApi["body"] = (call, ...rest) => {
    refuse(call);
    return api.body(call, ...rest);
  };
  return { model, api: { ...api, body } };
}

test("an interface that requires the chosen tool to exist gets a tool of that name", () => {
  const target = strict(({ tools = [], toolChoice }) => {
    const { name } = isObject(toolChoice) ? toolChoice : {};
    if (!tools.some((tool) => tool.name === name)) throw new PinRefusal(["toolChoice"], "No such tool.");
  });
  const request = asked({ type: "function", name: "measure" });
  const settings = pinSettings(target.api, target.api.body(request, target.model, "standard"));
  expect(settingsWithoutContent(target, planOf(request))).toEqual({ settings, kept: null });
});

test("the refusal of a placeholder is not a refusal of the request, but the refusal of a setting is", () => {
  for (const field of ["tools.0", "tools.0.parameters", "toolChoice", "input", "instructions"]) {
    const target = strict(() => {
      throw new PinRefusal(field.split("."), "Not like this.");
    });
    expect(settingsWithoutContent(target, planOf(asked("auto")))).toEqual({ settings: null, kept: null });
  }
  for (const field of ["tools", "sampling.seed", "sampling.maxOutputTokens"]) {
    const target = strict(() => {
      throw new PinRefusal(field.split("."), "The model does not support this setting. Leave it out.");
    });
    expect(settingsWithoutContent(target, planOf(asked("auto")))).toEqual({
      refused: `${field}: The model does not support this setting. Leave it out.`,
    });
  }
});
