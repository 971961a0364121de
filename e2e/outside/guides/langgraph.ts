import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const model = new ChatOpenAI({
  model: "text.general.fast.v1",
  configuration: { baseURL: `${process.env.CAPSTAN_URL}/v1` },
  apiKey: process.env.CAPSTAN_API_KEY,
});

const tools = [
  tool(({ city }) => `It is 21 degrees in ${city}.`, {
    name: "get_weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
  }),
];
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", async ({ messages }) => ({ messages: [await model.bindTools(tools).invoke(messages)] }))
  .addNode("tools", new ToolNode(tools))
  .addEdge("__start__", "agent")
  .addConditionalEdges("agent", toolsCondition)
  .addEdge("tools", "agent")
  .compile();
const { messages } = await graph.invoke({
  messages: [{ role: "user", content: "Use get_weather and tell me what to wear." }],
});
console.log(messages.at(-1)?.text);
