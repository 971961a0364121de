import {
  type AgentInputItem,
  Agent as AgentOf,
  MaxTurnsExceededError,
  OpenAIProvider,
  Runner,
  tool,
  user,
} from "@openai/agents";
import { type Agent, City, MODEL, type Task, type Tool, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";

/* OpenAI's Agents SDK, with its handoffs. Tracing, which would send data to OpenAI, is off. */

export function rows(world: World): Row[] {
  const row = (door: string, useResponses: boolean): Row => ({
    client: "@openai/agents",
    version: versionOf("@openai/agents"),
    door,
    ...(useResponses ? { lacks: LACKS } : {}),
    checks: tenLoops(world, agentOf(world, useResponses), useResponses ? LACKS : {}),
  });
  return [row("chat", false), row("responses", true)];
}

const LACKS = { "limit of tokens": "to it an answer that was cut short is an error" };

const toolOf = ({ name, description, run }: Tool) =>
  tool({ name, description, parameters: City, execute: async (input) => run(input) });

function startOf(task: Task) {
  const common = {
    model: task.model ?? MODEL,
    ...(task.maxOutputTokens && { modelSettings: { maxTokens: task.maxOutputTokens } }),
  };
  const tools = task.tools.map(toolOf);
  if (task.shape) return new AgentOf({ ...common, name: "first", tools, outputType: task.shape });
  if (!task.handoff) return new AgentOf({ ...common, name: "first", tools });
  const { agent, tools: itsTools } = task.handoff;
  const other = new AgentOf({ ...common, name: agent, tools: itsTools.map(toolOf) });
  return AgentOf.create({ ...common, name: "first", tools, handoffs: [other] });
}

export const agentOf = (world: World, useResponses: boolean): Agent => {
  const modelProvider = new OpenAIProvider({
    baseURL: `${world.baseUrl}/v1`,
    apiKey: world.apiKey,
    useResponses,
  });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  return async (task) => {
    const history = (task.history ?? []) as AgentInputItem[]; // our own history of an earlier turn
    const input = [...history, user(task.question)];
    const options = {
      ...(task.maxSteps && { maxTurns: task.maxSteps }),
      ...(task.signal && { signal: task.signal }),
    };
    const agent = startOf(task) as AgentOf; // the loops check the shape of its output
    if (task.stream) {
      const result = await runner.run(agent, input, { ...options, stream: true });
      let [text, pieces] = ["", 0];
      for await (const piece of result.toTextStream()) {
        text += piece;
        pieces++;
      }
      await result.completed;
      return { text, pieces };
    }
    try {
      const result = await runner.run(agent, input, options);
      const output: unknown = result.finalOutput;
      return {
        text: typeof output === "string" ? output : "",
        object: output,
        history: result.history,
        isCut: isCut(result.rawResponses.at(-1)?.providerData),
      };
    } catch (error) {
      if (error instanceof MaxTurnsExceededError) return { text: "", isStopped: true };
      throw error;
    }
  };
};

/** True if the response reached its token limit; the SDK keeps our response inside its own. */
function isCut(data: Record<string, unknown> | undefined): boolean {
  return /"finish_reason":"length"/.test(JSON.stringify(data ?? null));
}
