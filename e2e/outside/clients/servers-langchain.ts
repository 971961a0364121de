import { serverChecks } from "../servers";
import { type Row, versionOf, type World } from "../world";
import { agentOf } from "./langchain";

/* LangChain's model for OpenAI, which sends back the ids of calls, and drops unknown members. */

export const rows = (world: World): Row[] =>
  ["mistral", "kimi", "ollama"].map((server) => ({
    client: `langchain ${versionOf("langchain")} + @langchain/openai`,
    version: versionOf("@langchain/openai"),
    door: `chat, ${server}`,
    checks: serverChecks(world, server, (own) => agentOf(own, false)),
  }));
