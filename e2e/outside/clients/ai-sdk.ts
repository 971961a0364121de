import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import { z } from "zod";
import { type Agent, City, MODEL, type Task, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";
import { familyChecks } from "./ai-sdk-family";

/* Vercel's AI SDK with its two unmodified providers of OpenAI's interface. */

export function rows(world: World): Row[] {
  const settings = { baseURL: `${world.baseUrl}/v1`, apiKey: world.apiKey };
  const openai = createOpenAI(settings);
  const compatible = createOpenAICompatible({
    ...settings,
    name: "capstan",
    supportsStructuredOutputs: true,
    includeUsage: true,
  });
  const row = (provider: string, door: string, checks: Row["checks"]): Row => ({
    client: `ai ${versionOf("ai")} + ${provider}`,
    version: versionOf(provider),
    door,
    checks,
  });
  return [
    row("@ai-sdk/openai", "chat", tenLoops(world, agentOf(openai.chat))),
    row("@ai-sdk/openai", "responses", tenLoops(world, agentOf(openai.responses))),
    row("@ai-sdk/openai-compatible", "chat", tenLoops(world, agentOf(compatible.chatModel))),
    row("@ai-sdk/openai", "embeddings, images, speech", familyChecks(openai)),
  ];
}

function toolsOf({ tools, handoff }: Task): ToolSet {
  const all = [...tools, ...(handoff?.tools ?? [])].map(({ name, description, run }) => [
    name,
    tool({ description, inputSchema: City, execute: async (input) => run(input) }),
  ]);
  const transfer = tool({
    description: "Hands over to the clock.",
    inputSchema: z.object({ reason: z.string() }),
    execute: async () => "You are the clock now.",
  });
  return { ...Object.fromEntries(all), ...(handoff && { [handoff.name]: transfer }) };
}

/** The tools that are offered at a step: after a handoff those of the other agent. */
function activeTools({ tools, handoff }: Task, steps: { toolCalls: { toolName: string }[] }[]): string[] {
  if (!handoff) return tools.map(({ name }) => name);
  const isOver = steps.some(({ toolCalls }) => toolCalls.some(({ toolName }) => toolName === handoff.name));
  return isOver ? handoff.tools.map(({ name }) => name) : [...tools.map(({ name }) => name), handoff.name];
}

export const agentOf =
  (model: (id: string) => LanguageModel): Agent =>
  async (task) => {
    const history = (task.history ?? []) as ModelMessage[]; // our own history of an earlier turn
    const messages: ModelMessage[] = [...history, { role: "user", content: task.question }];
    const settings = {
      model: model(task.model ?? MODEL),
      messages,
      tools: toolsOf(task),
      stopWhen: stepCountIs(task.maxSteps ?? 10),
      prepareStep: ({ steps }: { steps: { toolCalls: { toolName: string }[] }[] }) => ({
        activeTools: activeTools(task, steps),
      }),
      ...(task.shape && { output: Output.object({ schema: task.shape }) }),
      ...(task.maxOutputTokens && { maxOutputTokens: task.maxOutputTokens }),
      ...(task.signal && { abortSignal: task.signal }),
    };
    let pieces = 0;
    if (task.stream) {
      const stream = streamText({ ...settings, onError: () => {} }); // `text` rejects with the error
      for await (const _ of stream.textStream) pieces++;
      return { text: await stream.text, pieces };
    }
    const result = await generateText(settings);
    return {
      text: result.text,
      object: task.shape && result.output,
      history: [...messages, ...result.responseMessages],
      isCut: result.finishReason === "length",
      isStopped: result.finishReason === "tool-calls",
    };
  };
