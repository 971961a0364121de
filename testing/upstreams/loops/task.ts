/*
 * The task of the loops, shared by clients and doubles: two parallel tool calls, one more, the answer, and a follow-up
 * question.
 */

export const TOOLS = ["get_weather", "get_time"].map((name) => ({
  name,
  description: `Answers to ${name}.`,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}));
export const QUESTION = "What are the weather and the time in Rome, and the weather in Oslo?";
export const NEXT_QUESTION = "And which of them is warmer?";
/** The result of each call, by its name and city. */
export const RESULTS: Record<string, string> = {
  "get_weather Rome": "sunny-4101",
  "get_time Rome": "noon-4102",
  "get_weather Oslo": "snow-4103",
};
export const ANSWER = "Rome: sunny-4101 at noon-4102. Oslo: snow-4103.";
export const NEXT_ANSWER = "Rome is warmer.";
