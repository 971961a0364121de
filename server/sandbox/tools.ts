import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { messageWords, questionOf, sinceQuestion } from "./conversation";
import { fromSchema } from "./json-schema/json-schema";
import { parseJson } from "./ports/define";
import type { Random } from "./random";
import type { TextRequest } from "./requests";
import { topicOf } from "./topic";

/* Decides when the sandbox calls tools, and reads their results. */

type Spec = Record<string, Json> & { name: string };

/** Reads a function tool, or a choice of one, in either usual spelling: flat, or within `function`. Null if it has no name. */
function specOf(given: Record<string, Json>): Spec | null {
  const inner = given.function;
  const flat = isObject(inner) ? inner : given;
  return typeof flat.name === "string" ? (flat as Spec) : null; // its name was checked
}

/** Results of tools since the last question, in order. */
export function resultsIn(request: TextRequest): { name: string; result: string }[] {
  const since = sinceQuestion(request);
  const names = new Map(since.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id, name }) => [id, name])));
  return since
    .filter(({ role }) => role === "tool")
    .map((message) => ({
      name: names.get(message.toolCallId ?? "") ?? "tool",
      result: messageWords(message),
    }));
}

type Wish = { spec: Spec; arguments?: string };

/** Matches a word of a question, and a flat object right after it: the arguments. */
const WORD = /([\p{L}\p{N}_-]+)(?:\s*(\{[^{}]*\}))?/gu;

/**
 * Lists the tools that the question names, step by step: `then` begins the next step. Without parallel calls each tool is a step.
 */
function stepsOf(request: TextRequest, specs: Spec[]): Wish[][] {
  const steps: Wish[][] = [[]];
  for (const [, word = "", object] of questionOf(request).matchAll(WORD)) {
    const spec = specs.find(({ name }) => name === word);
    const last = steps.at(-1)!;
    const isNext =
      word.toLowerCase() === "then" || (spec && request.parallelToolCalls === false && last.length > 0);
    if (isNext) steps.push([]);
    if (spec) steps.at(-1)!.push({ spec, ...(object && parseJson(object) ? { arguments: object } : {}) });
  }
  return steps;
}

/**
 * Chooses the tools to call now. A choice of one tool always calls it, or the first one if its name is unknown. Otherwise the
 * tools that the question names for this step are called; else, for `required`, one that was not called yet or the first; else
 * the first tool once, if the question names none. Empty if the answer is in words.
 */
function toolsToCall(request: TextRequest): Wish[] {
  const { tools = [], toolChoice } = request;
  const specs = tools.flatMap((tool) => specOf(tool) ?? []);
  const [first] = specs;
  if (toolChoice === "none" || !first) return [];
  if (typeof toolChoice === "object") {
    const wanted = specOf(toolChoice)?.name;
    return [{ spec: specs.find(({ name }) => name === wanted) ?? first }];
  }
  const called = sinceQuestion(request).flatMap(({ toolCalls = [] }) =>
    toolCalls.length > 0 ? [toolCalls] : [],
  );
  const steps = stepsOf(request, specs);
  const now = steps[called.length] ?? [];
  if (now.length > 0) return now;
  if (toolChoice === "required") {
    const names = called.flat().map(({ name }) => name);
    return [{ spec: specs.find(({ name }) => !names.includes(name)) ?? first }];
  }
  return called.length === 0 && steps.flat().length === 0 ? [{ spec: first }] : [];
}

/** The tool calls of an answer; empty if the answer is in words. */
export function toolCallsOf(request: TextRequest, random: Random) {
  return toolsToCall(request).map(({ spec, arguments: given }) => {
    const words = topicOf(questionOf(request));
    return {
      name: spec.name,
      arguments:
        given ?? JSON.stringify(fromSchema(spec.parameters ?? { type: "object" }, { random, words })),
      id: `call_${Math.floor(random() * 2 ** 32).toString(36)}`,
    };
  });
}
