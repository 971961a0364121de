import { beforeAll } from "vitest";
import { serveOwn } from "./own-server.fixture";

/* A server whose answers have opaque members, on two connections of a tenant. */

/** The tenant and the server, for the tests of a file. */
export function serveThinker() {
  const world = serveOwn();
  beforeAll(async () => {
    for (const label of ["one", "two"]) await world.connect({ models: "thinks:1:2,other:1:2", label });
  });
  return {
    world,
    /** The messages of the last request that the server received. */
    // biome-ignore lint/suspicious/noExplicitAny: a test reads messages of every shape
    sent: (): any[] => JSON.parse(world.vendor.arrived.at(-1)?.body ?? "null").messages,
    /** The entries in the receipt's list of rewrites about members that were left out. */
    async rewritesOf(executionId: string) {
      const { json } = await world.tenant.get(`/v1/jobs/${executionId}/receipt`);
      return json.rewrites.filter(({ field }: { field: string }) => field.startsWith("input.messages"));
    },
  };
}

export const THINKS = "openai-compatible/thinks";
export const SECRET = "a thought of nobody's concern";
/** A tool call as an OpenAI-compatible server returns it; MESSAGE is a message with this call. */
export const CALL = {
  id: "functions.depth:0",
  type: "function",
  function: { name: "depth", arguments: '{"river":"Elbe"}' },
  extra_content: { google: { thought_signature: "c2lnbmF0dXJl" } },
};
export const OPAQUE = {
  reasoning_content: SECRET,
  reasoning_details: [{ type: "reasoning.text", index: 0, text: SECRET, signature: "s" }],
};
export const MESSAGE = { role: "assistant", content: null, ...OPAQUE, tool_calls: [CALL] };
const usage = { prompt_tokens: 7, completion_tokens: 3 };
export const whole = (message: object = MESSAGE) => ({
  json: { choices: [{ index: 0, message, finish_reason: "stop" }], usage },
});
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], usage: finish_reason ? usage : null })}\n\n`;
const [DETAIL] = OPAQUE.reasoning_details;
export const streamed = {
  headers: { "content-type": "text/event-stream" },
  text: [
    chunk({ role: "assistant", reasoning_content: SECRET.slice(0, 9) }),
    chunk({
      reasoning_content: SECRET.slice(9),
      reasoning_details: [{ ...DETAIL, text: SECRET.slice(0, 3), signature: null }],
    }),
    chunk({ reasoning_details: [{ ...DETAIL, text: SECRET.slice(3) }] }),
    chunk({ tool_calls: [{ index: 0, ...CALL, function: { name: "depth", arguments: "" } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: CALL.function.arguments } }] }),
    chunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ].join(""),
};
export const HELLO = whole({ role: "assistant", content: "Hello" });

export const question = { role: "user", content: "How deep is it?" };
export const LEFT_OUT = [{ field: "input.messages[1].opaque", from: "opaque members", to: "left out" }];
export const TAG = /_cpt_[0-9a-z]{26}_[0-9a-f]{16}c$/;
