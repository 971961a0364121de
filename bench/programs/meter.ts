import { openSync, readSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { isMainThread } from "node:worker_threads";

/*
 * This program is loaded into the measured process (`node --import`, METER_PORT). On request it reports the longest time that the
 * main thread worked between two turns of its event loop since the last `/begin`, which is how long others had to wait. It
 * counts the thread's own CPU time, so other programs of the machine and other threads of the process add nothing.
 */

export type Slice = { cpuMs: number; wallMs: number };

/** A request counts as ended once no turn has taken more than `turnMs` for `forMs` of the thread's CPU time. */
const CALM = { turnMs: 0.5, forMs: 2 };
/** The meter answers after this much CPU time at the latest, because the process may have other work that never ends. */
const LONGEST_CALM_MS = 200;

const none = (): Slice => ({ cpuMs: 0, wallMs: 0 });
let longest = none();
let last = none();
let isCounting = false;
let waiting: { answer: ServerResponse; sinceMs: number; calmSinceMs: number } | null = null;

const text = Buffer.alloc(128);
/** Reads how long this thread has had a core. Asking for the process's usage brings the kernel's figure for the thread up to date. */
function read(clock: number): Slice {
  process.cpuUsage();
  const length = readSync(clock, text, 0, text.length, 0);
  return {
    cpuMs: Number(text.toString("latin1", 0, length).split(" ", 1)[0]) / 1e6,
    wallMs: performance.now(),
  };
}

function begin(clock: number): void {
  longest = none();
  last = read(clock);
  if (isCounting) return;
  isCounting = true;
  const count = () => {
    const now = read(clock);
    const turn = { cpuMs: now.cpuMs - last.cpuMs, wallMs: now.wallMs - last.wallMs };
    longest = {
      cpuMs: Math.max(longest.cpuMs, turn.cpuMs),
      wallMs: Math.max(longest.wallMs, turn.wallMs),
    };
    last = now;
    if (waiting && turn.cpuMs > CALM.turnMs) waiting.calmSinceMs = now.cpuMs;
    const isOver =
      waiting &&
      (now.cpuMs - waiting.calmSinceMs >= CALM.forMs || now.cpuMs - waiting.sinceMs >= LONGEST_CALM_MS);
    if (isOver) {
      isCounting = false;
      waiting?.answer.end(JSON.stringify(longest));
      waiting = null;
    } else setImmediate(count);
  };
  setImmediate(count);
}

const { METER_PORT } = process.env;
if (isMainThread && METER_PORT) {
  const clock = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const server = createServer((request, answer) => {
    if (request.url === "/begin") begin(clock);
    const { cpuMs } = last;
    if (request.url === "/end" && isCounting) waiting = { answer, sinceMs: cpuMs, calmSinceMs: cpuMs };
    else answer.end();
  });
  server.keepAliveTimeout = 0; // the bench may spend longer on making a large body than any timeout that could be set here
  server.on("connection", (socket) => socket.unref());
  server.listen(Number(METER_PORT), "127.0.0.1").unref();
}
