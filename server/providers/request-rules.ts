/* How servers that speak chat completions differ in what they take of a request, as far as a refusal can tell. */

/** The members that may carry the limit of the output: OpenAI's older name, which is sent where nothing is known, and its newer one. */
export const LIMIT_MEMBERS = ["max_tokens", "max_completion_tokens"] as const;

/** Request members that a server takes for one model; absent means the usual: `max_tokens` and, in streams, `stream_options`. */
export type RequestRules = {
  outputLimit?: (typeof LIMIT_MEMBERS)[number];
  /** The usage of a stream is not requested. */
  streamOptions?: false;
};
