import { expect, test } from "vitest";
import { randomFrom } from "./random";
import { TextRequest } from "./requests";
import { toolCallsOf } from "./tools";

const tool = (name: string) => ({
  name,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
});
const TOOLS = ["get_weather", "get_time", "extract"].map(tool);

/** The tools that are called for a question, after steps that each called some of them. */
function called(question: string, steps: string[][], more: object = {}) {
  const done = steps.flatMap((names, step) => [
    {
      role: "assistant",
      content: "",
      toolCalls: names.map((name) => ({ id: `${step}${name}`, name, arguments: "{}" })),
    },
    ...names.map((name) => ({ role: "tool", content: "found", toolCallId: `${step}${name}` })),
  ]);
  const messages = [{ role: "user", content: question }, ...done];
  return toolCallsOf(
    TextRequest.parse({ model: "sandbox-1", messages, tools: TOOLS, ...more }),
    randomFrom("x"),
  );
}
const namesOf = (...given: Parameters<typeof called>) => called(...given).map(({ name }) => name);

test("all tools that a question names are called in one step, in its order, and not again", () => {
  expect(namesOf("Use get_time and get_weather.", [])).toEqual(["get_time", "get_weather"]);
  expect(namesOf("Use get_time and get_weather.", [["get_time", "get_weather"]])).toEqual([]);
});

test("each `then` begins another step", () => {
  const question = "Use get_weather, then get_time, then get_weather.";
  expect(namesOf(question, [])).toEqual(["get_weather"]);
  expect(namesOf(question, [["get_weather"]])).toEqual(["get_time"]);
  expect(namesOf(question, [["get_weather"], ["get_time"]])).toEqual(["get_weather"]);
  expect(namesOf(question, [["get_weather"], ["get_time"], ["get_weather"]])).toEqual([]);
});

test("without parallel calls each tool is a step", () => {
  const question = "Use get_weather and get_time.";
  expect(namesOf(question, [], { parallelToolCalls: false })).toEqual(["get_weather"]);
  expect(namesOf(question, [["get_weather"]], { parallelToolCalls: false })).toEqual(["get_time"]);
});

test("a question that names no tool calls the first one once", () => {
  expect(namesOf("What do I wear?", [])).toEqual(["get_weather"]);
  expect(namesOf("What do I wear?", [["get_weather"]])).toEqual([]);
});

test("a required tool is one that was not called yet, or else the first", () => {
  const required = { toolChoice: "required" };
  expect(namesOf("Use get_weather.", [["get_weather"]], required)).toEqual(["get_time"]);
  expect(namesOf("Use get_weather.", [["get_weather"], ["get_time"], ["extract"]], required)).toEqual([
    "get_weather",
  ]);
});

test("a flat object after a tool's name is its arguments, and other text is not", () => {
  const [given] = called('Use get_weather {"city": "Oslo"}.', []);
  expect(given).toMatchObject({ name: "get_weather", arguments: '{"city": "Oslo"}' });
  const [made] = called("Use get_weather {city}.", []);
  expect(JSON.parse(made?.arguments ?? "")).toEqual({ city: expect.any(String) });
});
