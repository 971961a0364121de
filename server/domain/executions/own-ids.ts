import type { TextChoice, ToolCall } from "@/server/providers/define";
import { hashOfMaker, type Maker, type ReasoningName, type Tag, tagged } from "@/server/providers/maker-tag";

/**
 * Gives an answer ids that distinguish its calls and lead a later request back to its opaque members. If it
 * has such members, every call's id is tagged, and a message with members of its own gets an id. Calls that
 * share an id are numbered, and each after the first is tagged with its number. All other ids stay as the
 * server sent them.
 */
export function withOwnIds(choice: TextChoice, executionId: string, maker: Maker): TextChoice {
  const { toolCalls, opaque } = choice;
  const hasMembers = opaque !== undefined || toolCalls.some((call) => call.opaque !== undefined);
  const numbers = numbersOf(toolCalls);
  if (!hasMembers && numbers.every((number) => number === 1)) return choice;
  const execution = executionId.slice(executionId.indexOf("_") + 1);
  const tag: Omit<Tag, "id" | "number"> = {
    execution,
    maker: hashOfMaker(maker),
    reasoning: reasoningIn(choice),
  };
  const calls = toolCalls.map((call, place): ToolCall => {
    const number = numbers[place] ?? 1;
    if (!hasMembers && number === 1) return call;
    // A server may send a call without an id.
    const id = call.id || `call_${execution}_${place}`;
    return { ...call, id: tagged({ ...tag, id, number }) };
  });
  const id = opaque ? { id: tagged({ ...tag, id: `msg_${execution}`, number: 1 }) } : {};
  return { ...choice, ...id, toolCalls: calls };
}

/** For each call, the number of calls up to it with the same id. Missing ids do not count as shared. */
function numbersOf(calls: readonly ToolCall[]): number[] {
  const counts = new Map<string, number>();
  return calls.map(({ id }) => {
    const number = id === "" ? 1 : 1 + (counts.get(id) ?? 0);
    counts.set(id, number);
    return number;
  });
}

/** The member that holds the reasoning; null if neither or both do. */
function reasoningIn({ opaque = {} }: TextChoice): ReasoningName | null {
  const [one, other] = [typeof opaque.reasoning === "string", typeof opaque.reasoning_content === "string"];
  if (one === other) return null;
  return one ? "reasoning" : "reasoning_content";
}
