import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { type Agent, City, MODEL, type Task, tenLoops } from "../loops";
import { type Row, versionOf, type World } from "../world";
import { examples } from "./openai-examples";

/* OpenAI's own client, with loops written by hand as in its README. */

export function rows(world: World): Row[] {
  const client = new OpenAI({ baseURL: `${world.baseUrl}/v1`, apiKey: world.apiKey });
  const row = (door: string, checks: Row["checks"]): Row => ({
    client: "openai",
    version: versionOf("openai"),
    door,
    checks,
  });
  return [
    row("chat", tenLoops(world, chatAgent(client))),
    row("responses", tenLoops(world, responsesAgent(client))),
    row("examples", examples(client)),
  ];
}

/** The tools of a task as functions, including a handoff. */
function functionsOf({ tools, handoff }: Task) {
  const { $schema: _, ...parameters } = z.toJSONSchema(City);
  const all = handoff ? [...tools, { name: handoff.name, description: "Hands over to the clock." }] : tools;
  return all.map(({ name, description }) => ({ name, description, parameters, strict: true }));
}

/** Runs a call. After a handoff the task is the other agent's. */
function runCall(task: Task, name: string, text: string): { output: string; task: Task } {
  if (name === task.handoff?.name) {
    const { agent, tools } = task.handoff;
    return { output: `You are ${agent} now.`, task: { ...task, tools, handoff: undefined } };
  }
  try {
    const tool = task.tools.find((each) => each.name === name);
    return { output: tool?.run(City.parse(JSON.parse(text))) ?? `There is no ${name}.`, task };
  } catch (error) {
    return { output: String(error), task };
  }
}

function chatAgent(client: OpenAI): Agent {
  return async (given) => {
    let task = given;
    const history = (task.history ?? []) as OpenAI.ChatCompletionMessageParam[]; // our own history of an earlier turn
    const messages = [...history, { role: "user" as const, content: task.question }];
    const options = { signal: task.signal };
    let pieces = 0;
    for (let step = 1; ; step++) {
      const tools = functionsOf(task).map((tool) => ({ type: "function" as const, function: tool }));
      const body = {
        model: task.model ?? MODEL,
        messages,
        ...(tools.length > 0 && { tools }),
        ...(task.maxOutputTokens && { max_completion_tokens: task.maxOutputTokens }),
        ...(task.shape && { response_format: zodResponseFormat(task.shape, "report") }),
      };
      const completion = task.stream
        ? await client.chat.completions
            .stream(body, options)
            .on("content", () => pieces++)
            .finalChatCompletion()
        : await client.chat.completions.create(body, options);
      const { message, finish_reason } = completion.choices[0]!;
      messages.push(message);
      const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === "function" ? [call] : []));
      if (calls.length === 0 || step === task.maxSteps)
        return {
          text: message.content ?? "",
          object: task.shape && JSON.parse(message.content ?? ""),
          history: messages,
          pieces,
          isCut: finish_reason === "length",
          isStopped: calls.length > 0,
        };
      for (const call of calls) {
        const ran = runCall(task, call.function.name, call.function.arguments);
        messages.push({ role: "tool", tool_call_id: call.id, content: ran.output });
        task = ran.task;
      }
    }
  };
}

function responsesAgent(client: OpenAI): Agent {
  return async (given) => {
    let task = given;
    const history = (task.history ?? []) as OpenAI.Responses.ResponseInputItem[]; // our own history of an earlier turn
    const input = [...history, { role: "user" as const, content: task.question }];
    const options = { signal: task.signal };
    let pieces = 0;
    for (let step = 1; ; step++) {
      const tools = functionsOf(task).map((tool) => ({ type: "function" as const, ...tool }));
      const body = {
        model: task.model ?? MODEL,
        input,
        ...(tools.length > 0 && { tools }),
        ...(task.maxOutputTokens && { max_output_tokens: task.maxOutputTokens }),
        ...(task.shape && { text: { format: zodTextFormat(task.shape, "report") } }),
      };
      const response = task.stream
        ? await client.responses
            .stream(body, options)
            .on("response.output_text.delta", () => pieces++)
            .finalResponse()
        : await client.responses.create(body, options);
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[])); // as in OpenAI's guide
      const calls = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
      if (calls.length === 0 || step === task.maxSteps)
        return {
          text: response.output_text,
          object: task.shape && JSON.parse(response.output_text),
          history: input,
          pieces,
          isCut: response.incomplete_details?.reason === "max_output_tokens",
          isStopped: calls.length > 0,
        };
      for (const call of calls) {
        const ran = runCall(task, call.name, call.arguments);
        input.push({ type: "function_call_output", call_id: call.call_id, output: ran.output });
        task = ran.task;
      }
    }
  };
}
