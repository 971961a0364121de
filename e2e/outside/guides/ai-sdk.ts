import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const capstan = createOpenAI({
  baseURL: `${process.env.CAPSTAN_URL}/v1`,
  apiKey: process.env.CAPSTAN_API_KEY,
});

const { text } = await generateText({
  model: capstan("text.general.fast.v1"),
  prompt: "Use get_weather and tell me what to wear.",
  tools: {
    get_weather: tool({
      description: "The weather in a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `It is 21 degrees in ${city}.`,
    }),
  },
  stopWhen: stepCountIs(5),
});
console.log(text);
