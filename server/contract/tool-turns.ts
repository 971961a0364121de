type Turn = { toolCalls?: readonly { id: string }[] | null | undefined; toolCallId?: string | undefined };

/**
 * The first message whose tool calls or result have no counterpart: each call needs a later result, and each result an
 * earlier call. Null if all match.
 */
export function flawOfTurns(messages: readonly Turn[]): { at: number; msg: string } | null {
  const open = new Map<string, number>();
  for (const [at, { toolCalls, toolCallId }] of messages.entries()) {
    for (const { id } of toolCalls ?? []) open.set(id, at);
    if (toolCallId !== undefined && !open.delete(toolCallId))
      return { at, msg: `No earlier tool call has the id ${toolCallId}.` };
  }
  for (const [id, at] of open) return { at, msg: `The result of the tool call ${id} is missing.` };
  return null;
}
