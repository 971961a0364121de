import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const model = new ChatOpenAI({
  model: "text.general.fast.v1",
  configuration: { baseURL: `${process.env.CAPSTAN_URL}/v1` },
  apiKey: process.env.CAPSTAN_API_KEY,
});

const getWeather = tool(({ city }) => `It is 21 degrees in ${city}.`, {
  name: "get_weather",
  description: "The weather in a city",
  schema: z.object({ city: z.string() }),
});
const agent = createAgent({ model, tools: [getWeather] });
const { messages } = await agent.invoke({
  messages: [{ role: "user", content: "Use get_weather and tell me what to wear." }],
});
console.log(messages.at(-1)?.text);
