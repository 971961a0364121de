import type { z } from "zod";
import type { ToolCall } from "@/server/contract/inputs";
import type { AllowedMode, ChoiceMode } from "@/server/contract/openai";
import { flawOfTurns } from "@/server/contract/tool-turns";
import type { Conversation } from "@/server/domain/jobs";
import { ValidationFault } from "@/server/platform/errors/errors";

/* Tools of chat completions and Responses: the offered tools, the tool choice, and earlier calls. */

export type Calls = z.output<typeof ToolCall>[];

/** A `tool_choice`: a mode, a function, or a mode among some functions. */
export type RequestedToolChoice =
  | z.output<typeof ChoiceMode>
  | { name: string }
  | { mode: z.output<typeof AllowedMode>; names: string[] };

type Tool = Record<string, unknown>;
export type Tools = {
  tools: Tool[] | null | undefined;
  choice: RequestedToolChoice | null | undefined;
  parallel: boolean | null | undefined;
};

/** The tool-related parts of a message. */
type Said = { toolCalls?: Calls; toolCallId?: string };

/**
 * The tools to offer and the conversation's tool settings. Refuses a choice of a tool that is not in `tools`, and calls
 * and results that do not match.
 */
export function offerOf(
  { tools, choice, parallel }: Tools,
  messages: Said[],
  spell: (place: number) => string,
): { offered: Tool[] | null; conversation: Conversation | undefined } {
  const turns = turnsOf(messages, spell);
  const all = tools?.length ? tools : null;
  if (!all) {
    if (choice && choice !== "auto" && choice !== "none")
      refuse("tool_choice", "A tool choice needs `tools`, and the request has none.");
    return { offered: null, conversation: turns.length > 0 ? { turns } : undefined };
  }
  // Tools that are not offered are not called; but vendors require the tools of earlier calls.
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

function modeOf(choice: RequestedToolChoice, tools: Tool[]) {
  if (typeof choice === "string") return { mode: choice, among: tools };
  const names = "names" in choice ? choice.names : [choice.name];
  const missing = names.find((name) => !tools.some((tool) => nameOf(tool) === name));
  if (missing !== undefined) refuse("tool_choice", `The tool ${missing} is not in \`tools\`.`);
  if ("name" in choice) return { mode: choice, among: tools };
  return { mode: choice.mode, among: tools.filter((tool) => names.includes(nameOf(tool))) };
}

const nameOf = ({ name, function: inner }: Tool): string =>
  String(name ?? (inner as { name?: unknown } | undefined)?.name);

type Turns = NonNullable<Conversation["turns"]>;

/** The messages that call tools or answer a call. Each call must have a result, and each result an earlier call. */
function turnsOf(messages: Said[], spell: (place: number) => string): Turns {
  const flaw = flawOfTurns(messages);
  if (flaw) refuse(spell(flaw.at), flaw.msg);
  return messages.flatMap(({ toolCalls, toolCallId }, at): Turns => {
    if (toolCalls?.length) return [{ at, toolCalls }];
    return toolCallId === undefined ? [] : [{ at, toolCallId }];
  });
}

function refuse(field: string, msg: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
}
