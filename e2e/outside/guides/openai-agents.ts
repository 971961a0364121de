import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { z } from "zod";

const modelProvider = new OpenAIProvider({
  baseURL: `${process.env.CAPSTAN_URL}/v1`,
  apiKey: process.env.CAPSTAN_API_KEY,
});

const getWeather = tool({
  name: "get_weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `It is 21 degrees in ${city}.`,
});
const tailor = new Agent({
  name: "Tailor",
  instructions: "You say what to wear.",
  model: "text.general.fast.v1",
  tools: [getWeather],
});
const runner = new Runner({ modelProvider, tracingDisabled: true });
const result = await runner.run(tailor, "Use get_weather and tell me what to wear.");
console.log(result.finalOutput);
