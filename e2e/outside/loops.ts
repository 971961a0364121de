import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Row, World } from "./world";

/*
 * The ten loops of an agent, once for all frameworks; the two limits are checks of their own. A framework says in one function how it runs a task; what has to
 * hold is here. The sandbox calls the tools that a question names, `then` after `then`, and ends with what they found.
 */

export const MODEL = "text.general.fast.v1";
/** Loses every answer, after the provider has taken the request on. */
const LOST = `${MODEL}@sandbox/sandbox-lost`;
const SLOW = `${MODEL}@sandbox/sandbox-slow`;

/** Among what a framework lacks: it takes a stream that broke off for a whole answer. */
export const FAILURE = "notice of a failure";

export type Tool = { name: string; description: string; run(input: { city: string }): string };
export const City = z.object({ city: z.string().describe("The name of a city") });
export const Report = z.object({ summary: z.string(), degrees: z.number() });

export type Task = {
  question: string;
  tools: Tool[];
  model?: string;
  /** Another agent that the first may hand over to, by a tool of this name. */
  handoff?: { name: string; agent: string; tools: Tool[] };
  /** What an earlier run left as its history: this question is its next turn. */
  history?: unknown;
  /** The answer is an object of this shape. */
  shape?: typeof Report;
  /** The answer comes in pieces. */
  stream?: boolean;
  /** The loop ends after so many answers of the model. */
  maxSteps?: number;
  maxOutputTokens?: number;
  signal?: AbortSignal;
};

export type Outcome = {
  text: string;
  object?: unknown;
  history?: unknown;
  /** How many pieces of text came, where the answer was streamed. */
  pieces?: number;
  /** The last answer ran into its limit of tokens. */
  isCut?: boolean;
  /** The loop ran into `maxSteps`. */
  isStopped?: boolean;
};

export type Agent = (task: Task) => Promise<Outcome>;

/** A tool that finds something no model could guess, and counts how often it was called. */
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

/** What has to hold of an agent. `lacks` names the loops that a framework has no way for, and why. */
export function tenLoops(world: World, agent: Agent, lacks: Record<string, string> = {}): Row["checks"] {
  const { tap } = world;
  /** The requests and executions that some work makes. */
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
      assert.match(text, /station-closed|error occurred/i); // some keep the tool's own words from the model
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
