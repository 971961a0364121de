import type { z } from "zod";
import type { ToolCall } from "@/server/contract/inputs";
import type { AllowedMode, ChoiceMode } from "@/server/contract/openai";
import type { Conversation } from "@/server/domain/jobs";
import { ValidationFault } from "@/server/errors";

/* Tools of either OpenAI request: what is offered, what must be called, and what was called before. */

export type Calls = z.output<typeof ToolCall>[];

/** A `tool_choice` of either request: a mode, a function, or a mode among some of them. */
export type Choice =
  | z.output<typeof ChoiceMode>
  | { name: string }
  | { mode: z.output<typeof AllowedMode>; names: string[] };

type Tool = Record<string, unknown>;
export type Tools = {
  tools: Tool[] | null | undefined;
  choice: Choice | null | undefined;
  parallel: boolean | null | undefined;
};

/** A message of the conversation, as far as tools are concerned. */
type Said = { toolCalls?: Calls; toolCallId?: string };

/** The tools to offer and what the conversation says of them. Refuses a choice of what is not offered. */
export function offerOf(
  { tools, choice, parallel }: Tools,
  messages: Said[],
  spell: (place: number) => string,
): { offered: Tool[] | null; conversation: Conversation | undefined } {
  const turns = turnsOf(messages, spell);
  const all = tools?.length ? tools : null;
  if (!all) {
    if (choice && choice !== "auto" && choice !== "none") refuse("tool_choice", "No tools are given.");
    return { offered: null, conversation: turns.length > 0 ? { turns } : undefined };
  }
  // What is not offered is not called; but where calls were made before, vendors want to know their tools.
  if (choice === "none" && turns.length === 0) return { offered: null, conversation: undefined };
  const { mode, among } = modeOf(choice ?? "auto", all);
  const conversation: Conversation = {
    ...(turns.length > 0 ? { turns } : {}),
    ...(mode === "auto" ? {} : { toolChoice: mode }),
    ...(parallel === false ? { parallelToolCalls: false } : {}),
  };
  return {
    offered: among,
    conversation: Object.keys(conversation).length > 0 ? conversation : undefined,
  };
}

function modeOf(choice: Choice, tools: Tool[]) {
  if (typeof choice === "string") return { mode: choice, among: tools };
  const names = "names" in choice ? choice.names : [choice.name];
  const missing = names.find((name) => !tools.some((tool) => nameOf(tool) === name));
  if (missing !== undefined) refuse("tool_choice", `There is no tool ${missing} among the tools.`);
  if ("name" in choice) return { mode: choice, among: tools };
  return { mode: choice.mode, among: tools.filter((tool) => names.includes(nameOf(tool))) };
}

const nameOf = ({ name, function: inner }: Tool): string =>
  String(name ?? (inner as { name?: unknown } | undefined)?.name);

type Turns = NonNullable<Conversation["turns"]>;

/** Which messages call tools or answer a call. Each call has its result, and each result its call before it. */
function turnsOf(messages: Said[], spell: (place: number) => string): Turns {
  const open = new Map<string, number>();
  const turns = messages.flatMap(({ toolCalls, toolCallId }, at): Turns => {
    if (toolCalls?.length) {
      for (const { id } of toolCalls) open.set(id, at);
      return [{ at, toolCalls }];
    }
    if (toolCallId === undefined) return [];
    if (!open.delete(toolCallId)) refuse(spell(at), `No call before it has the id ${toolCallId}.`);
    return [{ at, toolCallId }];
  });
  for (const [id, at] of open) refuse(spell(at), `The result of the call ${id} is missing.`);
  return turns;
}

function refuse(field: string, msg: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
}
