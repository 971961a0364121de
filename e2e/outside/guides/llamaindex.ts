import { OpenAI } from "@llamaindex/openai";
import { agent } from "@llamaindex/workflow";
import { tool } from "llamaindex";
import { z } from "zod";

const llm = new OpenAI({
  model: "text.general.fast.v1",
  baseURL: `${process.env.CAPSTAN_URL}/v1`,
  apiKey: process.env.CAPSTAN_API_KEY,
});

const getWeather = tool({
  name: "get_weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `It is 21 degrees in ${city}.`,
});
const answer = await agent({ llm, tools: [getWeather] }).run("Use get_weather and tell me what to wear.");
console.log(answer.data.result);
