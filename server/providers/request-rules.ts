/* Differences in the request members that chat completions servers accept, as far as their refusals reveal them. */

/** Names of the output limit: OpenAI's older name, which is the default, and its newer one. */
export const LIMIT_MEMBERS = ["max_tokens", "max_completion_tokens"] as const;

/**
 * Request members that a server accepts for one model. Absent means the default: `max_tokens`, and `stream_options` in
 * streams.
 */
export type RequestRules = {
  outputLimit?: (typeof LIMIT_MEMBERS)[number];
  /** Do not request the usage of streams. */
  streamOptions?: false;
};
