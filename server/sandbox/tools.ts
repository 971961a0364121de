import type { Json } from "@/server/step";
import { questionOf, sinceQuestion, wordsOf } from "./conversation";
import { fromSchema } from "./json-schema";
import type { Random } from "./random";
import type { TextRequest } from "./requests";
import { topicOf } from "./topic";

/* When the sandbox calls tools, and what it has of their results. */

type Spec = Record<string, Json> & { name: string };

/** A function tool or a choice of one, in either usual spelling: flat, or within `function`. Null: it has no name. */
function specOf(given: Record<string, Json>): Spec | null {
  const inner = given.function;
  const flat = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : given;
  return typeof flat.name === "string" ? (flat as Spec) : null; // has its name
}

/** What the tools have answered since the last question, in order. */
export function resultsIn(request: TextRequest): { name: string; result: string }[] {
  const since = sinceQuestion(request);
  const names = new Map(since.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id, name }) => [id, name])));
  return since
    .filter(({ role }) => role === "tool")
    .map((message) => ({ name: names.get(message.toolCallId ?? "") ?? "tool", result: wordsOf(message) }));
}

/**
 * The tools that are called now. One that is chosen by name always; else those the question names, or the first, as far as
 * they have not answered yet. None: the answer is in words.
 */
function toolsToCall(request: TextRequest): Spec[] {
  const { tools = [], toolChoice, parallelToolCalls } = request;
  const specs = tools.flatMap((tool) => specOf(tool) ?? []);
  const [first] = specs;
  if (toolChoice === "none" || !first) return [];
  if (typeof toolChoice === "object") {
    const wanted = specOf(toolChoice)?.name;
    return [specs.find(({ name }) => name === wanted) ?? first];
  }
  const question = questionOf(request).split(/[^\p{L}\p{N}_-]+/u);
  const answered = resultsIn(request).map(({ name }) => name);
  const named = specs.filter(({ name }) => question.includes(name));
  const wanted = named.length > 0 ? named : answered.length > 0 ? [] : [first];
  const left = wanted.filter(({ name }) => !answered.includes(name));
  if (left.length === 0 && toolChoice === "required") return [first];
  return parallelToolCalls === false ? left.slice(0, 1) : left;
}

/** The calls of an answer that is none in words; empty: it is in words. */
export function toolCallsOf(request: TextRequest, random: Random) {
  return toolsToCall(request).map((spec) => ({
    name: spec.name,
    arguments: JSON.stringify(
      fromSchema(spec.parameters ?? { type: "object" }, { random, words: topicOf(questionOf(request)) }),
    ),
    id: `call_${Math.floor(random() * 2 ** 32).toString(36)}`,
  }));
}
