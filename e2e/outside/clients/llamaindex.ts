import { OpenAI, OpenAIResponses } from "@llamaindex/openai";
import { agent, agentStreamEvent, multiAgent, stopAgentEvent } from "@llamaindex/workflow";
import { type ChatMessage, tool } from "llamaindex";
import { type Agent, City, FAILURE, MODEL, type Outcome, type Task, type Tool, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";

/* LlamaIndex's agent workflows. */

export function rows(world: World): Row[] {
  const row = (door: string, useResponses: boolean): Row => ({
    client: `llamaindex ${versionOf("llamaindex")} + @llamaindex/openai`,
    version: versionOf("@llamaindex/openai"),
    door,
    checks: tenLoops(world, agentOf(world, useResponses), lacksOf(useResponses)),
    lacks: lacksOf(useResponses),
  });
  return [row("chat", false), row("responses", true)];
}

const lacksOf = (useResponses: boolean) => ({
  abort: "its agents take no signal",
  "limit of steps": "its agents have none",
  ...(useResponses && { [FAILURE]: "it does not read response.failed" }),
});

const toolOf = ({ name, description, run }: Tool) =>
  tool({ name, description, parameters: City, execute: (input) => run(input) });

function modelOf(world: World, task: Task, useResponses: boolean) {
  const settings = {
    model: task.model ?? MODEL,
    apiKey: world.apiKey,
    baseURL: `${world.baseUrl}/v1`,
  };
  return useResponses
    ? new OpenAIResponses({
        ...settings,
        ...(task.maxOutputTokens && { maxOutputTokens: task.maxOutputTokens }),
      })
    : new OpenAI({ ...settings, ...(task.maxOutputTokens && { maxTokens: task.maxOutputTokens }) });
}

function workflowOf(world: World, task: Task, useResponses: boolean) {
  const llm = modelOf(world, task, useResponses);
  const tools = task.tools.map(toolOf);
  if (!task.handoff) return agent({ llm, tools });
  const { agent: name, tools: itsTools } = task.handoff;
  const clock = agent({ name, description: "Knows the time.", llm, tools: itsTools.map(toolOf) });
  const first = agent({ name: "first", description: "Hands over.", llm, tools, canHandoffTo: [clock] });
  return multiAgent({ agents: [first, clock], rootAgent: first });
}

const agentOf =
  (world: World, useResponses: boolean): Agent =>
  (task) =>
    orFailure(run(world, task, useResponses));

async function run(world: World, task: Task, useResponses: boolean): Promise<Outcome> {
  const workflow = workflowOf(world, task, useResponses);
  const history = (task.history ?? []) as ChatMessage[]; // our own history of an earlier turn
  const stream = workflow.runStream(
    task.handoff ? task.question.replace(task.handoff.name, "handOff") : task.question,
    {
      chatHistory: history,
      ...(task.shape && { responseFormat: task.shape }),
    },
  );
  let [pieces, isCut] = [0, false];
  for await (const event of stream) {
    if (agentStreamEvent.include(event)) {
      if (event.data.delta) pieces++;
      isCut ||= /"finish_reason":"length"|"reason":"max_output_tokens"/.test(JSON.stringify(event.data.raw));
    }
    if (!stopAgentEvent.include(event)) continue;
    const { result, object, state, message } = event.data;
    return {
      text: String(result),
      object,
      history: state ? await state.memory.get() : [...history, message],
      pieces,
      isCut,
    };
  }
  throw new Error("the workflow ended without an answer");
}

/** Turns an unhandled rejection into the workflow's error, because a workflow whose request fails never ends. */
async function orFailure(work: Promise<Outcome>): Promise<Outcome> {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  process.on("unhandledRejection", fail);
  return Promise.race([work, failed]).finally(() => process.off("unhandledRejection", fail));
}
