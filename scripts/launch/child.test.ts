import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lastLines, type Supervised, supervise } from "./child";
import { isAlive } from "./system";

const scratch = mkdtempSync(join(tmpdir(), "capstan-child-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A supervised script that reports when it is up; `next` settles with the process id of the next start. */
function run(name: string, script: string) {
  const logFile = join(scratch, `${name}.log`);
  const waiting: ((pid: number) => void)[] = [];
  const next = () => new Promise<number>((resolve) => waiting.push(resolve));
  const first = next();
  const deaths: string[] = [];
  let died = () => {};
  const firstDeath = new Promise<void>((resolve) => {
    died = resolve;
  });
  const part: Supervised = supervise(
    { name, args: ["-e", `${script}; process.send(process.pid)`], env: process.env, logFile },
    {
      started: () => {},
      died: (why) => {
        deaths.push(why);
        died();
      },
      message: (pid) => waiting.shift()?.(Number(pid)),
    },
  );
  return { part, first, next, deaths, firstDeath, logFile };
}

test("a killed process is started again", async () => {
  const { part, first, next, deaths } = run("killed", "setInterval(() => {}, 1000)");
  const pid = await first;
  const second = next();
  process.kill(pid, "SIGKILL");
  expect(await second).not.toBe(pid);
  expect(deaths).toEqual(["was killed by SIGKILL"]);
  expect(part.deaths()).toBe(1);
  await part.stop(5_000);
  expect(part.pid()).toBeNull();
});

test("the output of a process before it fails is in its log", async () => {
  const { part, firstDeath, deaths, logFile } = run(
    "failing",
    "console.error('no such table'); process.exit(3)",
  );
  await firstDeath;
  await part.stop(5_000);
  expect(deaths[0]).toBe("ended with exit code 3");
  expect(lastLines(logFile)).toContain("no such table");
});

test("a process that ignores the request to end is killed after the grace period, and stays down", async () => {
  const { part, first, deaths } = run(
    "stubborn",
    "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)",
  );
  const pid = await first;
  await part.stop(100);
  expect(isAlive(pid)).toBe(false);
  expect(deaths).toEqual([]);
});
