import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Row, World } from "./world";

/*
 * Checks of an agent that calls tools in a loop, the same for every framework. A framework's own part is one function that
 * runs a task. The sandbox calls the tools that a question names, one after each "then" of the question, and ends with their
 * results.
 */

export const MODEL = "text.general.fast.v1";
/** A sandbox model that loses every answer after the request was accepted. */
const LOST = `${MODEL}@sandbox/sandbox-lost`;
const SLOW = `${MODEL}@sandbox/sandbox-slow`;

/** The name of a lacking feature: a framework without it treats a failed answer as a whole one. */
export const FAILURE = "notice of a failure";

export type Tool = { name: string; description: string; run(input: { city: string }): string };
export const City = z.object({ city: z.string().describe("The name of a city") });
export const Report = z.object({ summary: z.string(), degrees: z.number() });

export type Task = {
  question: string;
  tools: Tool[];
  model?: string;
  /** Another agent to which the first may hand over, through a tool of this name. */
  handoff?: { name: string; agent: string; tools: Tool[] };
  /** The history of an earlier run, of which this question is the next turn. */
  history?: unknown;
  /** The shape of the answer, if it must be an object. */
  shape?: typeof Report;
  /** True if the answer is streamed. */
  stream?: boolean;
  /** The loop ends after this many answers of the model. */
  maxSteps?: number;
  maxOutputTokens?: number;
  signal?: AbortSignal;
};

export type Outcome = {
  text: string;
  object?: unknown;
  history?: unknown;
  /** The number of streamed pieces of text. */
  pieces?: number;
  /** True if the last answer reached its token limit. */
  isCut?: boolean;
  /** True if the loop reached `maxSteps`. */
  isStopped?: boolean;
};

export type Agent = (task: Task) => Promise<Outcome>;

/** A tool whose result no model could guess, and which counts its calls. */
function makeTool(name: string, finding: string) {
  const tool = {
    name,
    description: `Finds the ${name.replace("get_", "")} in a city.`,
    calls: 0,
    finding,
    run({ city }: { city: string }) {
      assert.equal(typeof city, "string");
      tool.calls++;
      return finding;
    },
  };
  return tool;
}

let serial = 4100;
const weather = () => makeTool("get_weather", `sunny-${serial++}`);
const time = () => makeTool("get_time", `noon-${serial++}`);

/** The checks of an agent. `lacks` names the loops that a framework does not support, and why. */
export function tenLoops(world: World, agent: Agent, lacks: Record<string, string> = {}): Row["checks"] {
  const { tap } = world;
  /** Returns the requests that `work` causes, the number of its executions, and its result. */
  async function counted<T>(work: () => Promise<T>) {
    const mark = tap.mark();
    const before = world.executions();
    const result = await work();
    return { result, requests: tap.since(mark), executions: world.executions() - before };
  }

  const loops: Row["checks"] = {
    async "two tools"() {
      const [first, second] = [weather(), time()];
      const { result, requests } = await counted(() =>
        agent({ question: "Use get_weather, then get_time.", tools: [first, second] }),
      );
      assert.deepEqual([first.calls, second.calls, requests.length], [1, 1, 3]);
      assert.match(result.text, new RegExp(first.finding));
      assert.match(result.text, new RegExp(second.finding));
    },
    async "parallel calls"() {
      const [first, second] = [weather(), time()];
      const { result, requests } = await counted(() =>
        agent({ question: "Use get_weather and get_time.", tools: [first, second] }),
      );
      assert.deepEqual([first.calls, second.calls, requests.length], [1, 1, 2]);
      assert.match(result.text, new RegExp(first.finding));
      assert.match(result.text, new RegExp(second.finding));
    },
    async "structured end"() {
      const tool = weather();
      const { object } = await agent({ question: "Use get_weather.", tools: [tool], shape: Report });
      assert.equal(tool.calls, 1);
      assert.deepEqual(Report.parse(object), object);
    },
    async handoff() {
      const [first, second] = [weather(), time()];
      const { text } = await agent({
        question: `Use transfer_to_clock {"toAgent": "clock", "reason": "the time"}, then get_time.`,
        tools: [first],
        handoff: { name: "transfer_to_clock", agent: "clock", tools: [second] },
      });
      assert.deepEqual([first.calls, second.calls], [0, 1]);
      assert.match(text, new RegExp(second.finding));
    },
    async "second turn"() {
      const [first, second] = [weather(), time()];
      const tools = [first, second];
      const { history, text } = await agent({ question: "Use get_weather.", tools });
      assert.match(text, new RegExp(first.finding));
      const { result, requests } = await counted(() => agent({ question: "Use get_time.", tools, history }));
      assert.deepEqual([first.calls, second.calls], [1, 1]);
      assert.match(result.text, new RegExp(second.finding));
      assert.ok(
        requests.every(({ body }) => body.includes(first.finding)),
        "the first turn was not sent",
      );
    },
    async streaming() {
      const tool = weather();
      const { text, pieces = 0 } = await agent({ question: "Use get_weather.", tools: [tool], stream: true });
      assert.equal(tool.calls, 1);
      assert.match(text, new RegExp(tool.finding));
      assert.ok(pieces > 2, `the text came in ${pieces} pieces`);
    },
    async abort() {
      const stop = new AbortController();
      const arrived = tap.next();
      const beganAt = Date.now();
      const work = agent({ question: "Say hello.", tools: [], model: SLOW, signal: stop.signal });
      const ended = work.then(
        () => "it answered",
        () => "it was aborted",
      );
      await Promise.race([arrived, ended]);
      await sleep(200);
      stop.abort();
      assert.equal(await ended, "it was aborted");
      assert.ok(Date.now() - beganAt < 10_000, "it waited for the answer");
    },
    async "error in a tool"() {
      const broken = { ...weather(), run: (): string => assert.fail("station-closed") };
      const { text } = await agent({ question: "Use get_weather.", tools: [broken] });
      assert.match(text, /station-closed|error occurred/i); // some frameworks hide the tool's own message from the model
    },
    async "limit of steps"() {
      const tool = weather();
      const question = "Use get_weather, then get_weather, then get_weather, then get_weather.";
      const { result, requests } = await counted(() => agent({ question, tools: [tool], maxSteps: 2 }));
      assert.equal(result.isStopped, true);
      assert.ok(requests.length <= 3, `it went on for ${requests.length} answers`);
    },
    async "limit of tokens"() {
      const cut = await agent({ question: "Tell me of lighthouses.", tools: [], maxOutputTokens: 4 });
      assert.equal(cut.isCut, true);
      assert.ok(cut.text.length > 0, "what was written before the limit is lost");
    },
    async retry() {
      const tool = weather();
      const { result, executions } = await counted(() => {
        tap.refuseNext();
        return agent({ question: "Use get_weather.", tools: [tool] });
      });
      assert.match(result.text, new RegExp(tool.finding));
      assert.deepEqual([tool.calls, executions], [1, 2]);
      const lost = await counted(() =>
        agent({ question: `Say hello ${serial++}.`, tools: [], model: LOST }).then(
          () => "answered",
          () => "failed",
        ),
      );
      assert.equal(lost.executions, 1);
      if (!(FAILURE in lacks)) assert.equal(lost.result, "failed");
    },
  };
  return Object.fromEntries(Object.entries(loops).filter(([name]) => !(name in lacks)));
}
