import { serverChecks } from "../servers";
import { type Row, versionOf, type World } from "../world";
import { agentOf } from "./openai-agents";

/*
 * OpenAI's Agents SDK, which sends back members of calls if the answer came whole, and reasoning under one of its two names.
 */

export const rows = (world: World): Row[] =>
  ["groq", "gemini", "vllm"].map((server) => ({
    client: "@openai/agents",
    version: versionOf("@openai/agents"),
    door: `chat, ${server}`,
    checks: serverChecks(world, server, (own) => agentOf(own, false)),
  }));
