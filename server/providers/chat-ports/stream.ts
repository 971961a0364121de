import { z } from "zod";
import { ProviderFault } from "../define";
import { ChatReply } from "./reply";

/* Chat completions as a stream. */

const ChatChunk = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.int().nullish(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
  usage: ChatReply.shape.usage,
});

/** The whole answer, gathered from its chunks, in the form it has without a stream. */
export function gatherChat(onText: (text: string) => void) {
  let [id, model, finishReason]: (string | null)[] = [null, null, null];
  let [content, refusal] = ["", ""];
  let usage: ChatReply["usage"] = null;
  let isWhole = false;
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  return {
    /** Takes one event; true when it was the last. */
    take(data: string): boolean {
      if (data.trim() === "[DONE]") {
        isWhole = true;
        return true;
      }
      const chunk = ChatChunk.parse(JSON.parse(data));
      if (chunk.error)
        throw new ProviderFault("failed", "attempted", "The provider failed while working on the request.");
      id ??= chunk.id ?? null;
      model ??= chunk.model ?? null;
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      const delta = choice?.delta;
      if (delta?.content) {
        content += delta.content;
        onText(delta.content);
      }
      refusal += delta?.refusal ?? "";
      for (const [place, part] of (delta?.tool_calls ?? []).entries()) {
        const at = part.index ?? place;
        const known = calls.get(at) ?? { id: "", name: "", arguments: "" };
        calls.set(at, {
          id: known.id || (part.id ?? ""),
          name: known.name + (part.function?.name ?? ""),
          arguments: known.arguments + (part.function?.arguments ?? ""),
        });
      }
      if (choice?.finish_reason) {
        finishReason = choice.finish_reason;
        isWhole = true; // usage may follow in a chunk of its own
      }
      return false;
    },
    /** Null: it broke off. */
    whole(): ChatReply | null {
      if (!isWhole) return null;
      if (content === "" && refusal !== "") onText(refusal);
      const tool_calls = [...calls.values()].map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: call.arguments },
      }));
      return {
        id,
        model,
        usage,
        choices: [{ finish_reason: finishReason, message: { content, refusal, tool_calls } }],
      };
    },
  };
}
