/** The calls of tools in a conversation, and their results. */
type Turn = { toolCalls?: readonly { id: string }[] | null | undefined; toolCallId?: string | undefined };

/**
 * The first message whose calls or result do not belong to the conversation: each call has a result after it, and each result
 * a call before it. Null: all of them do.
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
