import { type BaseMessage, type BaseMessageLike, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import {
  createAgent,
  createMiddleware,
  modelCallLimitMiddleware,
  providerStrategy,
  tool,
  toolErrorMiddleware,
} from "langchain";
import { z } from "zod";
import { type Agent, City, MODEL, type Task, type Tool, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";

/* LangChain's agents on its model for OpenAI, with that model's own retries. */

export function rows(world: World): Row[] {
  const row = (door: string, useResponsesApi: boolean): Row => ({
    client: `langchain ${versionOf("langchain")} + @langchain/openai`,
    version: versionOf("@langchain/openai"),
    door,
    checks: tenLoops(world, agentOf(world, useResponsesApi)),
  });
  return [row("chat", false), row("responses", true)];
}

/** LangChain's model for a task; only the address and the key are ours. */
export const modelOf = (world: World, task: Task, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model: task.model ?? MODEL,
    apiKey: world.apiKey,
    configuration: { baseURL: `${world.baseUrl}/v1` },
    useResponsesApi,
    ...(task.maxOutputTokens && { maxTokens: task.maxOutputTokens }),
  });

export const toolOf = ({ name, description, run }: Tool) =>
  tool((input: z.output<typeof City>) => run(input), { name, description, schema: City });

/** True for an answer that reached its limit, in the terms of either endpoint. */
export const isCut = ({ response_metadata: told }: BaseMessage): boolean =>
  /"finish_reason":"length"|"reason":"max_output_tokens"/.test(JSON.stringify(told));

/** Offers the tools of the first agent until it has handed over, then those of the other. */
function handover({ tools, handoff }: Task) {
  const before = [...tools.map(({ name }) => name), handoff?.name];
  const after = handoff?.tools.map(({ name }) => name) ?? [];
  return createMiddleware({
    name: "Handover",
    wrapModelCall(request, handler) {
      const isOver = request.messages.some(
        (message) => ToolMessage.isInstance(message) && message.name === handoff?.name,
      );
      const offered = isOver ? after : before;
      return handler({
        ...request,
        tools: request.tools.filter(({ name }) => offered.includes(String(name))),
      });
    },
  });
}

export const agentOf =
  (world: World, useResponsesApi: boolean): Agent =>
  async (task) => {
    const transfer = tool(() => "You are the clock now.", {
      name: task.handoff?.name ?? "transfer",
      description: "Hands over to the clock.",
      schema: z.object({ reason: z.string() }),
    });
    const agent = createAgent({
      model: modelOf(world, task, useResponsesApi),
      tools: [
        ...task.tools.map(toolOf),
        ...(task.handoff ? [transfer, ...task.handoff.tools.map(toolOf)] : []),
      ],
      // LangChain's default offers the shape as a tool, which it does not force at the Responses endpoint.
      ...(task.shape && { responseFormat: useResponsesApi ? providerStrategy(task.shape) : task.shape }),
      middleware: [
        toolErrorMiddleware({ onError: (error) => String(error) }),
        ...(task.handoff ? [handover(task)] : []),
        ...(task.maxSteps ? [modelCallLimitMiddleware({ runLimit: task.maxSteps })] : []),
      ],
    });
    const history = (task.history ?? []) as BaseMessageLike[]; // our own history of an earlier turn
    const messages = [...history, new HumanMessage(task.question)];
    const options = task.signal ? { signal: task.signal } : {};
    if (task.stream) {
      let [text, pieces] = ["", 0];
      for await (const [chunk] of await agent.stream({ messages }, { ...options, streamMode: "messages" })) {
        if (chunk.getType() !== "ai" || chunk.text === "") continue;
        text += chunk.text;
        pieces++;
      }
      return { text, pieces };
    }
    const state = await agent.invoke({ messages }, options);
    const last = state.messages.at(-1)!;
    return {
      text: last.text,
      object: "structuredResponse" in state ? state.structuredResponse : undefined,
      history: state.messages,
      isCut: isCut(last),
      isStopped: /call limits? exceeded/.test(last.text),
    };
  };
