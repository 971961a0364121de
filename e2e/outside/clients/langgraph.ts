import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Command,
  GraphRecursionError,
  getCurrentTaskInput,
  MessagesAnnotation,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { type Agent, type Task, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";
import { isCut, modelOf, toolOf } from "./langchain";

/* LangGraph's ReAct agent, and a graph of two such agents for the handoff. */

export function rows(world: World): Row[] {
  const row = (door: string, useResponsesApi: boolean): Row => ({
    client: `@langchain/langgraph + @langchain/openai ${versionOf("@langchain/openai")}`,
    version: versionOf("@langchain/langgraph"),
    door,
    checks: tenLoops(world, agentOf(world, useResponsesApi)),
  });
  return [row("chat", false), row("responses", true)];
}

/** A tool that leaves the graph of one agent for the other's node, as LangGraph's guide to multi-agent systems shows. */
const transferOf = (name: string, agent: string) =>
  tool(
    (_, config) => {
      const { messages } = getCurrentTaskInput<typeof MessagesAnnotation.State>(config);
      const said = new ToolMessage({
        content: `You are ${agent} now.`,
        name,
        tool_call_id: config.toolCall.id,
      });
      return new Command({ goto: agent, graph: Command.PARENT, update: { messages: [...messages, said] } });
    },
    { name, description: "Hands over to the clock.", schema: z.object({ reason: z.string() }) },
  );

function graphOf(world: World, task: Task, useResponsesApi: boolean) {
  const llm = modelOf(world, task, useResponsesApi);
  const { handoff } = task;
  if (!handoff)
    return createReactAgent({
      llm,
      tools: task.tools.map(toolOf),
      ...(task.shape && { responseFormat: task.shape }),
    });
  const transfer = transferOf(handoff.name, handoff.agent);
  const first = createReactAgent({ llm, name: "first", tools: [...task.tools.map(toolOf), transfer] });
  const second = createReactAgent({ llm, name: handoff.agent, tools: handoff.tools.map(toolOf) });
  return new StateGraph(MessagesAnnotation)
    .addNode("first", first, { ends: [handoff.agent] })
    .addNode(handoff.agent, second)
    .addEdge("__start__", "first")
    .compile();
}

const agentOf =
  (world: World, useResponsesApi: boolean): Agent =>
  async (task) => {
    const graph = graphOf(world, task, useResponsesApi);
    const history = (task.history ?? []) as BaseMessage[]; // our own history of an earlier turn
    const messages = [...history, new HumanMessage(task.question)];
    // A model's answer and its tools are two steps of the graph.
    const options = {
      ...(task.signal && { signal: task.signal }),
      ...(task.maxSteps && { recursionLimit: 2 * task.maxSteps }),
    };
    if (task.stream) {
      let [text, pieces] = ["", 0];
      for await (const [chunk] of await graph.stream({ messages }, { ...options, streamMode: "messages" })) {
        if (chunk.getType() !== "ai" || chunk.text === "") continue;
        text += chunk.text;
        pieces++;
      }
      return { text, pieces };
    }
    try {
      const state = await graph.invoke({ messages }, options);
      const last = state.messages.at(-1) as BaseMessage; // the graph ends with an answer
      return {
        text: last.text,
        object: "structuredResponse" in state ? state.structuredResponse : undefined,
        history: state.messages,
        isCut: isCut(last),
        isStopped: /need more steps/.test(last.text),
      };
    } catch (error) {
      if (error instanceof GraphRecursionError) return { text: "", isStopped: true };
      throw error;
    }
  };
