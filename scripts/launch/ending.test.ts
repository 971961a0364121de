import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openImports } from "../test/imports";
import { isAlive } from "./system";

const scratch = mkdtempSync(join(tmpdir(), "capstan-ending-"));
chmodSync(scratch, 0o711); // the database server may run as another user
const PROGRAM = resolve("test-results/ending-program.mjs");
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

beforeAll(() =>
  build({
    stdin: {
      contents: `
        import { spawn } from "node:child_process";
        import { endWithChildren } from "./scripts/launch/ending";
        import { startPostgres } from "./scripts/launch/postgres";
        const [what, folder] = process.argv.slice(2);
        endWithChildren({ graceMs: what === "stubborn" ? 200 : 20_000 });
        const node = (code, ...args) =>
          new Promise((resolve) => spawn(process.execPath, ["-e", code, ...args], { stdio: ["ignore", "ignore", "ignore", "ipc"] }).once("message", resolve));
        const STAY = "setInterval(() => {}, 1000); process.send([process.pid, ...pids].map(Number))";
        const started = {
          parent: () => node("const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); const pids = [child.pid];" + STAY),
          stubborn: () => node("const pids = []; process.on('SIGTERM', () => {});" + STAY),
          postgres: async () => {
            const server = await startPostgres({ dataDir: folder, logFile: folder + "/postgres.log", disposable: true });
            return [server.pid];
          },
        };
        process.send(await started[what]());
        process.on("message", () => { throw new Error("failed on the way"); });
      `,
      resolveDir: ".",
      loader: "js",
    },
    outfile: PROGRAM,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
  }),
);

/** A command that started this part of the program, and the ids of all processes that it has started. */
async function command(what: "parent" | "stubborn" | "postgres"): Promise<[ChildProcess, number[]]> {
  const child = spawn(process.execPath, [PROGRAM, what, scratch], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const [pids] = await once(child, "message");
  return [child, pids as number[]]; // the program sends process ids
}

async function ended(child: ChildProcess): Promise<number> {
  const [code] = await once(child, "exit");
  return Number(code);
}

test("a command that is asked to end first ends the processes that it has started", async () => {
  const [child, pids] = await command("parent");
  expect(pids.map(isAlive)).toEqual([true, true]);
  child.kill("SIGINT");
  expect(await ended(child)).toBe(130);
  await Promise.all(pids.map(untilGone));
});

test("a command ends when npm is asked to end, although npm's shell does not pass the signal on", async () => {
  const shell = spawn("sh", ["-c", `"${process.execPath}" "${PROGRAM}" parent; true`], {
    env: { ...process.env, npm_lifecycle_event: "bench" },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const [pids] = (await once(shell, "message")) as [number[]]; // the program sends process ids
  shell.kill("SIGTERM");
  await Promise.all(pids.map(untilGone));
});

test("a process that ignores the request to end is killed", async () => {
  const [child, pids] = await command("stubborn");
  child.kill("SIGTERM");
  expect(await ended(child)).toBe(143);
  expect(pids.map(isAlive)).toEqual([false]);
});

test("PostgreSQL, which has a session of its own, ends with the command that started it", async () => {
  const [child, [pid = 0]] = await command("postgres");
  child.kill("SIGTERM");
  expect(await ended(child)).toBe(143);
  expect(isAlive(pid)).toBe(false);
  expect(readFileSync(join(scratch, "postgres.log"), "utf8")).toContain("database system is shut down");
});

test("a command that fails leaves nothing behind", async () => {
  const [child, pids] = await command("parent");
  const gone = Promise.all(pids.map(untilGone));
  child.send("fail");
  expect(await ended(child)).toBe(1);
  await gone;
});

/** A process without a parent is collected by the machine's first process, a moment later. */
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("every npm script that starts processes calls endWithChildren", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const { importedBy } = openImports(".");
  const leaving = Object.entries(scripts).filter(([, line]) => {
    const entry = /\b(?:scripts|bench|clients|server)\/\S+\.(?:ts|mjs)/.exec(line)?.[0];
    const reached = entry ? [...importedBy(entry)] : [];
    const isLauncher = reached.includes("scripts/prepare.mjs"); // it bundles the launcher
    const texts = [...reached, ...(isLauncher ? importedBy("scripts/launch/main.ts") : [])]
      .filter((file) => /\.(ts|mjs)$/.test(file) && file !== "scripts/launch/ending.ts")
      .map((file) => readFileSync(file, "utf8"));
    const starts = (text: string) =>
      /"node:child_process"/.test(text) && /\b(?:spawn|fork|execFile)\(/.test(text);
    return texts.some(starts) && !texts.some((text) => text.includes("endWithChildren("));
  });
  expect(leaving).toEqual([]);
});
