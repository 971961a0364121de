import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../scripts/launch/system";
import { meterAt } from "../rig/meter";

const WORK_MS = 60;
/**
 * A server whose paths work for WORK_MS in one piece, in pieces of a tenth, on another thread or after the answer, or sleep for
 * as long.
 */
const SUBJECT = `
  const { createServer } = require("node:http");
  const { Worker } = require("node:worker_threads");
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  const work = (ms) => { for (const end = used() + ms; used() < end; ); };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const ways = {
    async held() { work(${WORK_MS}); },
    async turns() { for (let piece = 0; piece < 10; piece++) { work(${WORK_MS / 10}); await turn(); } },
    async thread() { await new Promise((resolve) => new Worker(
      "const since = process.hrtime.bigint(); while (process.hrtime.bigint() - since < ${WORK_MS}000000n);", { eval: true }).once("exit", resolve)); },
    async asleep() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${WORK_MS}); },
    async after() { setTimeout(() => work(${WORK_MS}), 0); },
  };
  createServer(async (request, answer) => { await ways[request.url.slice(1)](); answer.end(); })
    .listen(0, "127.0.0.1", function () { console.log(this.address().port); });
  process.on("disconnect", process.exit);`;

test.skipIf(process.platform !== "linux")(
  "the meter finds work that blocks the event loop, and ignores work that yields, sleeps or runs on another thread",
  async () => {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "capstan-meter-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const meter = join(folder, "meter.mjs");
    await build({
      entryPoints: ["bench/programs/meter.ts"],
      outfile: meter,
      format: "esm",
      logLevel: "error",
    });
    const subject = spawn(process.execPath, ["--import", meter, "-e", SUBJECT], {
      env: { ...process.env, METER_PORT: String(port) },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    onTestFinished(() => subject.disconnect());
    const [address] = await once(createInterface(subject.stdout!), "line"); // stdout is a pipe
    const { begin, end } = meterAt(port);
    const longest = async (way: string) => {
      await begin();
      await (await fetch(`http://127.0.0.1:${address}/${way}`)).text();
      return (await end()).cpuMs;
    };
    await longest("turns"); // compiles what the others run
    expect(await longest("held")).toBeGreaterThan(WORK_MS / 2);
    expect(await longest("after"), "work after the answer").toBeGreaterThan(WORK_MS / 2);
    for (const way of ["turns", "thread", "asleep"])
      expect(await longest(way), way).toBeLessThan(WORK_MS / 2);
  },
);
