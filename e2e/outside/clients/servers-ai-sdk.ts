import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { serverChecks } from "../servers";
import { type Row, versionOf, type World } from "../world";
import { agentOf } from "./ai-sdk";

/* The AI SDK's provider for compatible servers, which sends back reasoning and signatures. */

export const rows = (world: World): Row[] =>
  ["kimi", "gemini", "groq"].map((server) => ({
    client: `ai ${versionOf("ai")} + @ai-sdk/openai-compatible`,
    version: versionOf("@ai-sdk/openai-compatible"),
    door: `chat, ${server}`,
    checks: serverChecks(world, server, ({ baseUrl, apiKey }) =>
      agentOf(createOpenAICompatible({ name: "capstan", baseURL: `${baseUrl}/v1`, apiKey }).chatModel),
    ),
  }));
