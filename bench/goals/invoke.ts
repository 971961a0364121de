import { freePort } from "../../scripts/launch/system";
import { CAPABILITY, chatBodies, LARGE_TEXT, ourBodies, USUAL_TEXT } from "../rig/bodies";
import { missesOfFinished, type Sent } from "../rig/counts";
import { type Load, load, newKeys, type Round } from "../rig/load";
import { isPortkeyInstalled, PEERS, PORTKEY_VERSION, portkeyCommand, programCommand } from "../rig/peers";
import { type Running, SUBJECT_CORE, start, untilAnswers } from "../rig/processes";
import { nullTest, type Result } from "../rig/results";
import { alternate, medianOf, ratioOf } from "../rig/rounds";
import { spreadOf } from "../rig/statistics";
import type { Bench } from "./context";

/*
 * Goals 1 and 2 measure a synchronous call through Capstan beside the same call through Portkey's gateway, to the same upstream.
 * Capstan authenticates, validates, keeps the idempotency key, and commits the admission before the first byte leaves and the
 * receipt before the answer; Portkey writes nothing.
 */

const JSON_TYPE = { "content-type": "application/json" };
const ms = (micros: number) => `${(micros / 1000).toFixed(2)} ms`;
const us = (micros: number) => `${Math.round(micros)} µs`;

export async function measureInvoke(bench: Bench): Promise<void> {
  const { world, web, plan, say } = bench;
  const sent: Sent[] = [];
  const bare = await startBareProxy(bench);
  // A trial without the peer takes the bare proxy in its place, so that the whole goal is tried.
  const portkey = isPortkeyInstalled() ? await startPortkey(bench) : bare;
  const keeping = await startBareProxy(bench, world.peerDatabaseUrl);

  async function ours(connections: number, seconds = plan.seconds, text = USUAL_TEXT): Promise<Round> {
    const keys = newKeys();
    const round = await load(world.directory, {
      url: `${web.url}/v1/capabilities/${CAPABILITY}/invoke`,
      headers: { ...JSON_TYPE, authorization: `Bearer ${world.apiKey}` },
      bodies: ourBodies(world.projects.slice(0, 10), text),
      connections,
      seconds,
      pauseMs: plan.pauseMs,
      subject: web.running.pid,
      postgres: world.postgres.pid,
      keys,
    });
    sent.push({ keys, answered: round.answered, connections });
    return round;
  }
  const chat = (
    url: string,
    subject: Running,
    headers: Record<string, string>,
    text: number,
  ): Omit<Load, "connections" | "seconds"> => ({
    url: `${url}/v1/chat/completions`,
    headers: { ...JSON_TYPE, authorization: "Bearer bench", ...headers },
    bodies: chatBodies(text),
    pauseMs: plan.pauseMs,
    subject: subject.pid,
  });
  const asPortkey = {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `${world.upstream.url}/v1`,
  };
  const theirs = (connections: number, seconds = plan.seconds, text = USUAL_TEXT) =>
    load(world.directory, { ...chat(portkey.url, portkey.running, asPortkey, text), connections, seconds });
  const direct = (connections: number, text = USUAL_TEXT) =>
    load(world.directory, {
      ...chat(world.upstream.url, world.upstream.running, {}, text),
      connections,
      seconds: plan.seconds,
    });
  const floor = (connections: number, { url, running } = bare) =>
    load(world.directory, {
      ...chat(url, running, {}, USUAL_TEXT),
      connections,
      seconds: plan.seconds,
    });

  say("invoke: warming up");
  for (const each of [ours, theirs]) await each(16, plan.warmUpSeconds);
  await world.analyze();
  for (const each of [ours, theirs]) await each(1, plan.warmUpSeconds);
  for (const each of [bare, keeping]) await floor(16, each);

  say("invoke: null test, ours against ours, at 1 and at 16 connections");
  const quiet = await alternate(plan.rounds, { a: () => ours(1), b: () => ours(1) });
  const busy = await alternate(plan.rounds, { a: () => ours(16), b: () => ours(16) });
  addNull(bench, "latency at 1 connection, p50", quiet, (round) => round.p50Micros);
  addNull(bench, "CPU per request at 16 connections", busy, (round) => round.cpuMicros);
  addNull(bench, "requests per second at 16 connections", busy, (round) => round.perSecond);

  say("invoke: latency at 1 connection");
  const alone = await alternate(plan.rounds, {
    direct: () => direct(1),
    portkey: () => theirs(1),
    ours: () => ours(1),
    bare: () => floor(1),
    keeping: () => floor(1, keeping),
  });
  for (const [name, gate, aim, figure] of [
    ["p50", 2.5, 1.3, (round: Round) => round.p50Micros],
    ["p99", 1, 0.5, (round: Round) => round.p99Micros],
  ] as const) {
    const added = (samples: Round[]) =>
      samples.map((each, round) => figure(each) - figure(alone.direct[round] ?? each));
    const [ourAdded, theirAdded] = [added(alone.ours), added(alone.portkey)];
    addResult(bench, {
      goal: 1,
      what: `Invoke, added latency ${name} at 1 connection ÷ Portkey's`,
      ratio: spreadOf(ourAdded.map((value, round) => value / (theirAdded[round] ?? Number.NaN))),
      gate,
      aim,
      ours: `+${ms(spreadOf(ourAdded).median)}`,
      peer: `+${ms(spreadOf(theirAdded).median)}`,
    });
    bench.floors.push({
      what: `Bare proxy in Node, added latency ${name}`,
      value: `+${ms(spreadOf(added(alone.bare)).median)} (upstream alone ${ms(medianOf(alone.direct, figure))})`,
    });
    const kept = added(alone.keeping);
    bench.floors.push({
      what: `The same with one row committed before the call and one before the answer, added latency ${name}`,
      value: `+${ms(spreadOf(kept).median)}, ${spreadOf(kept.map((value, round) => value / (theirAdded[round] ?? Number.NaN))).median.toFixed(2)} of Portkey's`,
    });
  }

  const perRequest: [number, number][] = [[1, medianOf(alone.ours, (round) => round.cpuMicros)]];
  const few = await alternate(1, { ours: () => ours(4) });
  perRequest.push([4, medianOf(few.ours, (round) => round.cpuMicros)]);
  for (const connections of [16, 64]) {
    say(`invoke: CPU at ${connections} connections`);
    const many = await alternate(plan.rounds, {
      ours: () => ours(connections),
      portkey: () => theirs(connections),
    });
    const cpu = (round: Round) => round.cpuMicros;
    addResult(bench, {
      goal: 2,
      what: `Invoke, CPU per request at ${connections} connections ÷ Portkey's`,
      ratio: ratioOf(many.ours, many.portkey, cpu),
      gate: 1.3,
      aim: 0.25,
      ours: `${us(medianOf(many.ours, cpu))}, ${Math.round(medianOf(many.ours, (round) => round.perSecond))}/s`,
      peer: `${us(medianOf(many.portkey, cpu))}, ${Math.round(medianOf(many.portkey, (round) => round.perSecond))}/s`,
    });
    bench.floors.push({
      what: `PostgreSQL's own CPU per invoke at ${connections} connections`,
      value: us(medianOf(many.ours, (round) => round.postgresMicros)),
    });
    perRequest.push([connections, medianOf(many.ours, cpu)]);
  }
  const bareBusy = await alternate(1, { bare: () => floor(16) });
  bench.floors.push({
    what: "Bare proxy in Node, CPU per request at 16 connections",
    value: us(medianOf(bareBusy.bare, (round) => round.cpuMicros)),
  });
  const [, most] = perRequest.reduce((a, b) => (b[1] > a[1] ? b : a));
  const atFew = perRequest[0]?.[1] ?? most;
  bench.growth.push({
    what: "Invoke, CPU per request over 1, 4, 16, 64 connections: never more than 1.15 times that at 1",
    value: perRequest.map(([connections, cpu]) => `${connections}: ${us(cpu)}`).join(", "),
    holds: most <= atFew * 1.15,
  });

  say("invoke: a body of 400 KB");
  const large = await alternate(2, {
    direct: () => direct(1, LARGE_TEXT),
    portkey: () => theirs(1, plan.seconds, LARGE_TEXT),
    ours: () => ours(1, plan.seconds, LARGE_TEXT),
  });
  const p50 = (round: Round) => round.p50Micros;
  const addedOf = (ours: Round[], direct: Round[]) => medianOf(ours, p50) - medianOf(direct, p50);
  const added = addedOf(large.ours, large.direct);
  bench.growth.push({
    what: "Invoke, added latency p50 of a 400 KB body: at most as many times that of 1.6 KB as it is larger (250)",
    value: `+${ms(added)}; Portkey +${ms(addedOf(large.portkey, large.direct))}`,
    holds: added <= 250 * addedOf(alone.ours, alone.direct),
  });

  say("invoke: counting rows");
  const misses = await missesOfFinished(world.database, sent, "invoke");
  for (const result of bench.results) if (result.goal <= 2) result.misses.push(...misses);
  bench.floors.push({
    what: "Invokes answered and found again with receipt, attempt, payloads, events, hold and ledger",
    value: String(sent.reduce((sum, each) => sum + each.answered, 0)),
    holds: misses.length === 0,
  });
  await portkey.running.stop();
  await bare.running.stop();
  await keeping.running.stop();
}

function addNull<Name extends "a" | "b">(
  bench: Bench,
  what: string,
  rounds: Record<Name | "a" | "b", Round[]>,
  figure: (round: Round) => number,
): void {
  bench.nulls.push(nullTest(what, ratioOf(rounds.a, rounds.b, figure), 0.05));
}

function addResult(bench: Bench, result: Omit<Result, "bound" | "misses">): void {
  bench.results.push({ ...result, bound: "most", misses: [] });
}

async function startPortkey({ world }: Bench) {
  const port = await freePort();
  const log = world.log(`portkey-${PORTKEY_VERSION}`);
  const running = start("portkey", SUBJECT_CORE, portkeyCommand(port), {
    env: { ...process.env, NODE_ENV: "production" },
    cwd: PEERS,
    log,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(url, running, log);
  return { url, running };
}

async function startBareProxy({ world }: Bench, ...database: string[]) {
  const port = await freePort();
  const log = world.log(`bare-proxy-${port}`);
  const running = start(
    "bare proxy",
    SUBJECT_CORE,
    programCommand("bare-proxy", String(port), world.upstream.url, ...database),
    { log },
  );
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(url, running, log);
  return { url, running };
}
