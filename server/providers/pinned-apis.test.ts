import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PinnedSampling } from "@/server/contract/pinned";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type { ModelFacts } from "./define";
import { modelsFromSetting } from "./openai-compatible";
import { type PinApi, type PinCall, PinRefusal } from "./pins";
import { providers } from "./registry.gen";

/* Checks the table in docs/reference/pinned-interfaces.md against the interfaces. */

const VALUES: Required<PinCall["sampling"]> = {
  temperature: 0.25,
  topP: 0.75,
  topK: 40,
  maxOutputTokens: 2_000,
  seed: 7,
  stop: ["END"],
  frequencyPenalty: 0.5,
  presencePenalty: -0.5,
  reasoningEffort: "low",
  thinking: "disabled",
  thinkingBudgetTokens: 1_024,
  verbosity: "high",
};
type Field = keyof typeof VALUES;
const FIELDS = Object.keys(VALUES) as Field[]; // the keys of the record above

const pinned = providers.flatMap((provider) => {
  const { name, modelsFrom, pins = {} } = provider;
  const models = modelsFrom ? modelsFromSetting("llama3:8b:0.05:0.08") : provider.models;
  const texts = models.filter(({ port }) => port === "text");
  return Object.entries(pins).map(([api, pin]) => [`${name}/${api}`, pin, texts] as const);
});

/** The table's cells by interface and field, without backquotes. */
function cellsOf(): Map<string, Record<string, string>> {
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/pinned-interfaces.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("|"));
  const end = rows.findIndex((line, at) => at > 1 && line.startsWith("| field"));
  const [head = [], _rule, ...body] = rows.slice(0, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
  return new Map(
    head.slice(1).map((api, at) => [api, Object.fromEntries(body.map((row) => [row[0], row[at + 1] ?? ""]))]),
  );
}

const at = (body: Json, path: string): Json | undefined =>
  path.split(".").reduce<Json | undefined>((inner, member) => {
    return isObject(inner) ? inner[member] : undefined;
  }, body);

/** The body for one field, plus an output limit if the interface requires one; or the refusal of the field. */
function ask(api: PinApi, model: ModelFacts, field: Field): Json | PinRefusal {
  const call = (sampling: PinCall["sampling"]): PinCall => ({ input: "Name a fish.", sampling });
  const only = { [field]: VALUES[field] };
  for (const sampling of [only, { maxOutputTokens: VALUES.maxOutputTokens, ...only }]) {
    try {
      return api.body(call(sampling), model, "standard");
    } catch (error) {
      if (!(error instanceof PinRefusal)) throw error;
      if (error.field !== "sampling.maxOutputTokens") return error;
    }
  }
  throw new Error("A limit is wanted where there is one.");
}

test("the table has every interface and every sampling field", () => {
  const cells = cellsOf();
  expect([...cells.keys()].sort()).toEqual(pinned.map(([name]) => name).sort());
  expect(FIELDS.sort()).toEqual(Object.keys(PinnedSampling.shape).sort());
  for (const column of cells.values()) expect(Object.keys(column).sort()).toEqual(FIELDS);
});

test.each(pinned)(
  "%s sends each sampling field as documented, or refuses it by name",
  (name, api, models) => {
    const found = Object.fromEntries(
      FIELDS.map((field) => {
        const documented = cellsOf().get(name)?.[field] ?? "";
        const answers = models.map((model) => ask(api, model, field));
        for (const answer of answers)
          if (answer instanceof PinRefusal) expect(answer.field).toBe(`sampling.${field}`);
        const bodies = answers.filter((answer) => !(answer instanceof PinRefusal)) as Json[]; // the filter leaves only bodies
        if (bodies.length === 0) return [field, "refused"];
        const isSent = bodies.every(
          (body) => JSON.stringify(at(body, documented)) === JSON.stringify(VALUES[field]),
        );
        return [field, isSent ? documented : `something else: ${JSON.stringify(bodies[0])}`];
      }),
    );
    expect(found).toEqual(cellsOf().get(name));
  },
);

const schema = { type: "json_schema" as const, name: "answer", schema: { type: "object" } };
const limit = { maxOutputTokens: 4_000 };

test.each<[string, string, Partial<PinCall>, (string | number)[]]>([
  ["anthropic/messages", "claude-opus-5-5", {}, ["sampling", "maxOutputTokens"]],
  [
    "anthropic/messages",
    "claude-opus-5-5",
    { sampling: { ...limit, thinkingBudgetTokens: 1_024 } },
    ["sampling", "thinkingBudgetTokens"],
  ],
  [
    "anthropic/messages",
    "claude-haiku-4-5",
    { sampling: { ...limit, thinking: "enabled" } },
    ["sampling", "thinkingBudgetTokens"],
  ],
  [
    "anthropic/messages",
    "claude-haiku-4-5",
    { sampling: { ...limit, thinking: "disabled", thinkingBudgetTokens: 1_024 } },
    ["sampling", "thinkingBudgetTokens"],
  ],
  [
    "anthropic/messages",
    "claude-haiku-4-5",
    { sampling: { ...limit, reasoningEffort: "low" } },
    ["sampling", "reasoningEffort"],
  ],
  [
    "anthropic/messages",
    "claude-opus-5-5",
    { sampling: limit, responseFormat: { type: "json_object" } },
    ["responseFormat"],
  ],
  [
    "anthropic/messages",
    "claude-opus-5-5",
    { sampling: limit, responseFormat: { ...schema, strict: false } },
    ["responseFormat", "strict"],
  ],
  [
    "google/generate-content",
    "gemini-3.8-flash",
    { responseFormat: { ...schema, strict: false } },
    ["responseFormat", "strict"],
  ],
  [
    "google/generate-content",
    "gemini-3.8-flash",
    { sampling: { temperature: 0 } },
    ["sampling", "temperature"],
  ],
  ["openai/responses", "gpt-5.6-luna", { sampling: { topP: 0.5 } }, ["sampling", "topP"]],
  [
    "openai/responses",
    "gpt-4.1-mini",
    { sampling: { reasoningEffort: "low" } },
    ["sampling", "reasoningEffort"],
  ],
  ["openai/responses", "gpt-5.6-luna", { tools: [{ type: "web_search" }] }, ["tools", 0]],
  [
    "openai/chat-completions",
    "gpt-5.6-luna",
    { tools: [{ name: "find" }, { type: "function", function: "find" }] },
    ["tools", 1],
  ],
  ["deepseek/chat-completions", "deepseek-flash", { responseFormat: schema }, ["responseFormat"]],
])("%s of %s refuses %j at %j", (name, id, more, at) => {
  const [, api, models] = pinned.find(([each]) => each === name) ?? [];
  const model = models?.find((each) => each.id === id);
  if (!api || !model) throw new Error(`${name} has no ${id}`);
  const make = () => api.body({ input: "Name a fish.", sampling: {}, ...more }, model, "standard");
  expect(make).toThrow(PinRefusal);
  expect(make).toThrow(expect.objectContaining({ at }));
});
