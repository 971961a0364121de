import type OpenAI from "openai";
import { expect } from "vitest";
import type { Tenant } from "@/testing/api";
import { TOOLS } from "./task";

/*
 * Conversations as clients have them: each sends back its answers unchanged. OpenAI's own client makes the requests, except
 * those with the product's envelope.
 */

type Turn = { text: string; calls: { id: string; name: string; arguments: string }[] };
export type Talk = {
  say(text: string): void;
  result(callId: string, text: string): void;
  /** Sends the conversation so far. */
  ask(): Promise<Turn>;
};
export type Client = { tenant: Tenant; client: OpenAI; model: string };

const CHAT_TOOLS = TOOLS.map((tool) => ({ type: "function" as const, function: tool }));
const FLAT_TOOLS = TOOLS.map((tool) => ({ type: "function" as const, strict: null, ...tool }));

/** A conversation through chat completions, whole or streamed. */
const chat =
  (isStream: boolean) =>
  ({ client, model }: Client): Talk => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    return {
      say: (content) => void messages.push({ role: "user", content }),
      result: (tool_call_id, content) => void messages.push({ role: "tool", tool_call_id, content }),
      async ask() {
        const request = { model, messages, tools: CHAT_TOOLS };
        const { choices } = isStream
          ? await client.chat.completions.stream(request).finalChatCompletion()
          : await client.chat.completions.create(request);
        const { message } = choices[0]!; // a response has at least one choice
        messages.push(message);
        const calls = (message.tool_calls ?? []).flatMap((call) =>
          call.type === "function" ? [{ id: call.id, ...call.function }] : [],
        );
        return { text: message.content ?? "", calls };
      },
    };
  };

/** A conversation through the Responses endpoint, which requests the reasoning items. */
const responses =
  (isStream: boolean) =>
  ({ client, model }: Client): Talk => {
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    return {
      say: (content) => void input.push({ role: "user", content }),
      result: (call_id, output) => void input.push({ type: "function_call_output", call_id, output }),
      async ask() {
        const request = {
          model,
          input,
          tools: FLAT_TOOLS,
          include: ["reasoning.encrypted_content" as const],
          store: false,
        };
        const response = isStream
          ? await client.responses.stream(request).finalResponse()
          : await client.responses.create(request);
        input.push(...(response.output as OpenAI.Responses.ResponseInputItem[])); // as in the client's own guide
        const calls = response.output.flatMap((item) =>
          item.type === "function_call"
            ? [{ id: item.call_id, name: item.name, arguments: item.arguments }]
            : [],
        );
        return { text: response.output_text, calls };
      },
    };
  };

/** A conversation through the product's own envelope. */
function native({ tenant, model }: Client): Talk {
  const messages: object[] = [];
  const [provider, ...id] = model.split("/");
  return {
    say: (content) => void messages.push({ role: "user", content }),
    result: (toolCallId, content) => void messages.push({ role: "tool", toolCallId, content }),
    async ask() {
      const { status, json, text } = await tenant.post("/v1/capabilities/text.general.fast.v1/invoke", {
        input: { messages },
        toolSchemas: FLAT_TOOLS.map(({ strict: _, ...tool }) => tool),
        execution: { executionConstraints: { providerPin: provider, preferredModel: id.join("/") } },
      });
      expect(status, text).toBe(200);
      messages.push(json.typedOutput);
      return { text: json.typedOutput.content, calls: json.typedOutput.toolCalls ?? [] };
    },
  };
}

export const TALKS: Record<string, (client: Client) => Talk> = {
  "chat completions": chat(false),
  "streamed chat completions": chat(true),
  "the Responses API": responses(false),
  "the streamed Responses API": responses(true),
  "the product's own envelope": native,
};
