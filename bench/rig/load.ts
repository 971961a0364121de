import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { cpuMicros, LOAD_CORE } from "./processes";

/** Placeholder for the key in a body. A key has the same length, and each request gets another one. */
export const MARK = "@".repeat(24);

const Told = z.object({
  requests: z.number(),
  micros: z.number(),
  p50: z.number(),
  p99: z.number(),
  refused: z.number(),
  broken: z.number(),
});

export type Round = {
  /** Number of whole answers. */
  answered: number;
  perSecond: number;
  p50Micros: number;
  p99Micros: number;
  /** CPU time of the subject per answer. */
  cpuMicros: number;
  /** CPU time of PostgreSQL per answer; 0 if it was not measured. */
  postgresMicros: number;
};

export type Load = {
  url: string;
  headers?: Record<string, string>;
  /** Bodies with MARK, taken in turn; without any, the requests are GETs. */
  bodies?: string[];
  connections: number;
  seconds: number;
  /** Pause of each connection between two requests; without it, a connection sends the next at once. */
  pauseMs?: number;
  /** Number of keys after which the first comes again; without it, no key comes again. */
  wrap?: number;
  /** Process ids: the CPU time of both is measured during the load. */
  subject: number;
  postgres?: number;
  /** First part of every key of this round; a new one for every round unless keys are to be used again. */
  keys?: string;
};

let rounds = 0;
const run = Date.now().toString(36).slice(-5);

/** Makes the first part of the keys of a new round, by which its rows can be found afterwards. */
export function newKeys(): string {
  return `b${run}${(++rounds).toString(36).padStart(4, "0")}-`;
}

/** Most tries for a round of a trial: a busy machine may answer nothing within its second. */
const TRIES = 10;

/**
 * Loads a URL with wrk from the load's core. Throws when a request was refused or broke, or nothing was answered: such a round
 * says nothing.
 */
export async function load(directory: string, what: Load): Promise<Round> {
  for (let left = what.pauseMs ? TRIES : 1; ; left--) {
    const round = await once(directory, what, left === 1);
    if (round) return round;
  }
}

/** Null when nothing was answered and this is not the last try. */
async function once(directory: string, what: Load, isLast: boolean): Promise<Round | null> {
  const templates = (what.bodies ?? []).map((body, position) => {
    const file = join(directory, `body-${position}.json`);
    writeFileSync(file, body);
    return file;
  });
  const before = { subject: cpuMicros(what.subject), postgres: what.postgres ? cpuMicros(what.postgres) : 0 };
  const output = await wrk(
    [
      ...[
        "-t1",
        `-c${what.connections}`,
        `-d${what.seconds}s`,
        "--timeout",
        "30s",
        "-s",
        "bench/rig/load.lua",
      ],
      ...Object.entries(what.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
      what.url,
    ],
    {
      BENCH_TEMPLATES: templates.join(","),
      BENCH_KEY: what.keys ?? newKeys(),
      BENCH_WRAP: String(what.wrap ?? 0),
      BENCH_PAUSE: String(what.pauseMs ?? 0),
    },
  );
  const spent = {
    subject: cpuMicros(what.subject) - before.subject,
    postgres: what.postgres ? cpuMicros(what.postgres) - before.postgres : 0,
  };
  const said = /^BENCH (.*)$/m.exec(output)?.[1];
  if (!said) throw new Error(`wrk said nothing that can be read:\n${output}`);
  const told = Told.parse(JSON.parse(said));
  if (told.requests === 0 && told.refused + told.broken === 0 && !isLast) return null;
  if (told.refused + told.broken > 0 || told.requests === 0) {
    throw new Error(
      `${what.url}: of ${told.requests} requests ${told.refused} were refused and ${told.broken} broke`,
    );
  }
  return {
    answered: told.requests,
    perSecond: told.requests / (told.micros / 1e6),
    p50Micros: told.p50,
    p99Micros: told.p99,
    cpuMicros: spent.subject / told.requests,
    postgresMicros: spent.postgres / told.requests,
  };
}

function wrk(args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn("taskset", ["-c", String(LOAD_CORE), "wrk", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(output) : reject(new Error(`wrk failed:\n${output}`))));
  });
}
