import type { TextChoice, ToolCall } from "@/server/providers/define";
import { hashOfMaker, type Maker, type ReasoningName, type Tag, tagged } from "@/server/providers/maker-tag";

/**
 * An answer with ids by which its calls are told apart and its opaque members find their way back: where it has such members,
 * the message gets an id and each call's is tagged; a call that shares its id with an earlier one is tagged with its number.
 * An answer without either has the ids that its server gave.
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
    // The id of a call whose server gave none.
    const id = call.id || `call_${execution}_${place}`;
    return { ...call, id: tagged({ ...tag, id, number }) };
  });
  const id = opaque ? { id: tagged({ ...tag, id: `msg_${execution}`, number: 1 }) } : {};
  return { ...choice, ...id, toolCalls: calls };
}

/** For each call, how many up to it have its id. A missing id is no shared one. */
function numbersOf(calls: readonly ToolCall[]): number[] {
  const counts = new Map<string, number>();
  return calls.map(({ id }) => {
    const number = id === "" ? 1 : 1 + (counts.get(id) ?? 0);
    counts.set(id, number);
    return number;
  });
}

/** Under which name the reasoning came, where it came under one. */
function reasoningIn({ opaque = {} }: TextChoice): ReasoningName | null {
  const [one, other] = [typeof opaque.reasoning === "string", typeof opaque.reasoning_content === "string"];
  if (one === other) return null;
  return one ? "reasoning" : "reasoning_content";
}
