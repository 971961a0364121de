import { request as ask } from "undici";
import { CAPABILITY, ourBodies } from "../rig/bodies";
import { missesOfAdmitted, type Sent } from "../rig/counts";
import { load, MARK, newKeys, type Round } from "../rig/load";
import { pgbench, writeSubmitScript } from "../rig/pgbench";
import { alternate, medianOf, ratioOf } from "../rig/rounds";
import { spreadOf } from "../rig/statistics";
import type { Bench } from "./context";

/*
 * Goal 4 measures durable submits over HTTP beside pgbench, which writes the same rows in one statement over as many connections.
 * No worker runs: the goal is the promise to run, not the run.
 */

const RACERS = 64;
const perSecond = (round: { perSecond: number }) => round.perSecond;

export async function measureSubmit(bench: Bench): Promise<void> {
  const { world, web, plan, say } = bench;
  const sent: Sent[] = [];
  const url = `${web.url}/v1/capabilities/${CAPABILITY}/jobs`;
  const headers = { "content-type": "application/json", authorization: `Bearer ${world.apiKey}` };
  const bodies = ourBodies(world.projects);

  async function ours(connections: number, seconds = plan.seconds): Promise<Round & { keys: string }> {
    const keys = newKeys();
    const round = await load(world.directory, {
      url,
      headers,
      bodies,
      connections,
      seconds,
      pauseMs: plan.pauseMs,
      keys,
      subject: web.running.pid,
      postgres: world.postgres.pid,
    });
    sent.push({ keys, answered: round.answered, connections });
    return { ...round, keys };
  }

  say("submit: warming up");
  const first = await ours(16, plan.warmUpSeconds);
  const script = await writeSubmitScript(world, first.keys);
  const peer = (connections: number) => pgbench(world, script, connections, plan);
  await peer(16);
  await world.analyze(); // both have written rows by now

  for (const connections of [16, 64]) {
    say(`submit: ${connections} connections`);
    const many = await alternate(plan.rounds, {
      ours: () => ours(connections),
      pgbench: () => peer(connections),
    });
    bench.results.push({
      goal: 4,
      what: `Durable submits per second at ${connections} connections ÷ pgbench writing the same rows`,
      ratio: spreadOf(
        many.ours.map((round, number) => round.perSecond / (many.pgbench[number]?.perSecond ?? Number.NaN)),
      ),
      bound: "least",
      gate: 0.15,
      aim: 0.8,
      ours: `${Math.round(medianOf(many.ours, perSecond))}/s, ${Math.round(medianOf(many.ours, (round) => round.cpuMicros))} µs CPU`,
      peer: `${Math.round(medianOf(many.pgbench, perSecond))}/s`,
      misses: [],
    });
    bench.floors.push({
      what: `PostgreSQL's own CPU per submit at ${connections} connections`,
      value: `${Math.round(medianOf(many.ours, (round) => round.postgresMicros))} µs`,
    });
  }

  say("submit: a used key again");
  const fresh: Round[] = [];
  const again: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const made = await ours(16);
    fresh.push(made);
    again.push(
      await load(world.directory, {
        url,
        headers,
        bodies,
        connections: 16,
        seconds: plan.seconds,
        pauseMs: plan.pauseMs,
        keys: made.keys,
        wrap: made.answered,
        subject: web.running.pid,
      }),
    );
  }
  bench.results.push({
    goal: 4,
    what: "Submits with a used key per second ÷ fresh ones, 16 connections",
    ratio: ratioOf(again, fresh, perSecond),
    bound: "least",
    gate: 1.5,
    aim: null,
    ours: `${Math.round(medianOf(again, perSecond))}/s, ${Math.round(medianOf(again, (round) => round.cpuMicros))} µs CPU`,
    peer: `${Math.round(medianOf(fresh, perSecond))}/s`,
    misses: [],
  });

  say("submit: growth with connections");
  const growth: string[] = [];
  let before = 0;
  let isRising = true;
  for (const connections of [1, 4, 16, 64]) {
    const { ours: rounds } = await alternate(2, { ours: () => ours(connections) });
    const now = medianOf(rounds, perSecond);
    isRising &&= now > before * 0.95;
    before = now;
    growth.push(`${connections}: ${Math.round(now)}/s`);
  }
  bench.growth.push({
    what: "Durable submits per second over 1, 4, 16, 64 connections: rising",
    value: growth.join(", "),
    holds: isRising,
  });

  say("submit: races for one key");
  const races = await race(bench, url, headers);
  const misses = [...(await missesOfAdmitted(world.database, sent)), ...races];
  for (const result of bench.results) if (result.goal === 4) result.misses.push(...misses);
  bench.floors.push({
    what: `Jobs of ${RACERS} racing submits with one key, five times`,
    value: races.length === 0 ? "1 each, the same for every racer" : races.join("; "),
    holds: races.length === 0,
  });
  bench.floors.push({
    what: "Submits accepted and found again with payload, event and hold",
    value: String(sent.reduce((sum, each) => sum + each.answered, 0)),
    holds: misses.length === 0,
  });
}

async function race({ world }: Bench, url: string, headers: Record<string, string>): Promise<string[]> {
  const wrong: string[] = [];
  const [template = ""] = ourBodies(world.projects.slice(0, 1));
  for (let number = 0; number < 5; number++) {
    const key = newKeys().padEnd(MARK.length, "r");
    const body = template.replaceAll(MARK, key);
    const ids = await Promise.all(
      Array.from({ length: RACERS }, async () => {
        const answer = await ask(url, { method: "POST", headers, body });
        const job = (await answer.body.json()) as { jobId?: string };
        return job.jobId ?? `status ${answer.statusCode}`;
      }),
    );
    const { rows } = await world.database.query<{ jobs: number }>(
      "SELECT count(*)::int AS jobs FROM job WHERE idempotency_key = $1",
      [key],
    );
    const different = new Set(ids).size;
    if (different !== 1 || rows[0]?.jobs !== 1)
      wrong.push(`${RACERS} racers got ${different} answers for ${rows[0]?.jobs} jobs`);
  }
  return wrong;
}
