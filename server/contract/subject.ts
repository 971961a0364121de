import type { Job } from "@/server/contract/jobs";

const LONGEST = 120;

/**
 * The job's request in one line: the first 120 characters of its last user message, or else of its `prompt`, `text` or
 * `input`. Null if there is none or the input is not visible.
 */
export function subjectOf({ requestSnapshot }: Pick<Job, "requestSnapshot">): string | null {
  const input = requestSnapshot?.input;
  if (!isRecord(input)) return null;
  const asked = [lastUserMessage(input.messages), input.prompt, input.text, input.input].find(isText);
  if (asked === undefined) return null;
  const line = asked.trim().replace(/\s+/g, " ");
  return [...line].length > LONGEST ? `${[...line].slice(0, LONGEST).join("").trimEnd()}…` : line;
}

/** Arrays pass as well, which is harmless: they have none of the names that are read. */
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

function lastUserMessage(messages: unknown): unknown {
  if (!Array.isArray(messages)) return undefined;
  return messages.filter((each) => isRecord(each) && each.role === "user").at(-1)?.content;
}
