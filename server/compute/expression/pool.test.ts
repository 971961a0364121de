import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { findProgram, type Program } from "@/server/platform/threads/thread-program";
import { startPool } from "@/server/platform/threads/threads";
import {
  closeExpressionPool,
  EXPRESSION_ERROR_CODES,
  ExpressionError,
  type ExpressionInput,
  evaluateExpression,
} from "./index";
import type { ExpressionAnswer } from "./worker";

afterAll(closeExpressionPool);

const start = (program: Program, deadlineMs: number, size = 1, isForOneTask = false) =>
  startPool<ExpressionInput, ExpressionAnswer>({
    name: "expression",
    program,
    size,
    deadlineMs,
    memoryMb: 64,
    isForOneTask,
  });

function poolOf(...options: [code: string, deadlineMs: number, size?: number, isForOneTask?: boolean]) {
  const [code, ...rest] = options;
  const pool = start({ code }, ...rest);
  onTestFinished(() => pool.close());
  return pool;
}

/** A substitute worker program that does as the expression says. */
const OBEDIENT = `
  const { port } = require("node:worker_threads").workerData;
  port.on("message", ({ expression }) => {
    if (expression === "spin") for (;;) {}
    if (expression === "wait") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
    if (expression === "exit") process.exit(1);
    if (expression === "hoard") { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); }
    port.postMessage({ state: "broken", message: expression + Object.keys(process.env).length });
  });
  port.postMessage({ state: "ready" });
`;

test("an evaluation returns its output, a refusal its code, message and position", async () => {
  await expect(evaluateExpression({ expression: "1 / 8" })).resolves.toMatchObject({ result: "0.125" });
  await expect(evaluateExpression({ expression: "1 / 0" })).rejects.toEqual(
    expect.objectContaining({
      name: "ExpressionError",
      code: "division_by_zero",
      message: "Division by zero (position 2).",
      position: 2,
    }),
  );
  await expect(evaluateExpression({ expression: "1".repeat(2049) })).rejects.toBeInstanceOf(ExpressionError);
});

test("evaluations that run side by side get their own answers", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      evaluateExpression({ expression: "n * n", variables: { n: String(n) } }),
    ),
  );
  expect(answers.map(({ result }) => result)).toEqual(Array.from({ length: 200 }, (_, n) => String(n * n)));
});

test("hostile expressions end with a result or one of the ten codes, and the pool keeps serving", {
  tags: "long",
}, async () => {
  const long = `1.${"7316497392".repeat(50)}`;
  const repeat = (text: string, times: number, separator: string): string =>
    Array(times).fill(text).join(separator);
  const hostile = [
    `${"(".repeat(1024)}${")".repeat(1024)}`,
    `${"(".repeat(1023)}1${")".repeat(1023)}`,
    "-".repeat(2047),
    `${"-".repeat(2047)}1`,
    `${"sqrt(".repeat(300)}2${")".repeat(300)}`,
    repeat("9", 1024, "^"),
    "9^9^9^9^9",
    "9.9^9999.9",
    "(1+1e-9999)^9999",
    "1e-9999^1e-9999",
    "(1-1e-2000)^0.5",
    `0.${"9".repeat(2000)}^-0.5`,
    `1.${"0".repeat(1990)}1^9999`,
    `1e10000${"+1e-10000+1e10000".repeat(100)}`,
    "1e10000 % 7e-10000",
    "1e99999999999999999999999999",
    repeat("a", 1024, "*"),
    repeat("a", 1024, "/"),
    repeat("a", 1024, "%"),
    repeat("a", 1024, "-"),
    repeat("a^-9999", 250, "+"),
    repeat("a^a", 500, "+"),
    repeat("sqrt(a)", 250, "*"),
    repeat("a^(1/8192)", 180, "+"),
    `max(${repeat("a", 1000, ",")})`,
    `a${"^.1".repeat(90)}`,
    "round(a, 9999)",
    "1 + 1".repeat(400),
    "💥".repeat(1024),
    "\u0000".repeat(2048),
  ];
  for (const expression of hostile)
    for (const precision of [1, 28, 1000]) {
      const ended = await evaluateExpression({ expression, precision, variables: { a: long } }).then(
        ({ result }) => result,
        (error: ExpressionError) => error.code,
      );
      expect([...EXPRESSION_ERROR_CODES, expect.stringMatching(/^-?[0-9]/)]).toContainEqual(ended);
    }
  await expect(evaluateExpression({ expression: "2 + 2" })).resolves.toMatchObject({ result: "4" });
});

test("a worker that misses the deadline is stopped and replaced", async () => {
  const pool = poolOf(OBEDIENT, 30);
  expect(await pool.run({ expression: "spin" })).toEqual({ state: "stopped", by: "deadline" });
  expect(await pool.run({ expression: "again" })).toEqual({ state: "broken", message: "again0" });
});

test("a thread that a busy machine delays is not stopped; one that exceeds its processor time is", async () => {
  const counted = OBEDIENT.replace(
    '{ state: "ready" }',
    '{ state: "ready", threadId: Number(require("node:fs").readlinkSync("/proc/thread-self").split("/").pop()) }',
  );
  const pool = poolOf(counted, 30);
  expect(await pool.run({ expression: "wait" })).toEqual({ state: "broken", message: "wait0" });
  expect(await pool.run({ expression: "spin" })).toEqual({ state: "stopped", by: "deadline" });
});

test("tasks that wait behind a stopped worker get their turn", async () => {
  const pool = poolOf(OBEDIENT, 30);
  const [stopped, next] = await Promise.all([
    pool.run({ expression: "spin" }),
    pool.run({ expression: "b" }),
  ]);
  expect(stopped).toMatchObject({ state: "stopped" });
  expect(next).toEqual({ state: "broken", message: "b0" });
});

test("a worker that dies or exhausts its memory is replaced", async () => {
  const pool = poolOf(OBEDIENT, 15_000);
  expect(await pool.run({ expression: "exit" })).toMatchObject({ by: "failure" });
  expect(await pool.run({ expression: "hoard" })).toMatchObject({ by: "memory" });
  expect(await pool.run({ expression: "again" })).toMatchObject({ message: "again0" });
});

test("a signal ends the wait for running and queued work, and other work goes on", async () => {
  const pool = poolOf(OBEDIENT, 15_000);
  const [running, waiting] = [new AbortController(), new AbortController()];
  const ended = Promise.allSettled([
    pool.run({ expression: "spin" }, running),
    pool.run({ expression: "spin" }, waiting),
  ]);
  const last = pool.run({ expression: "c" });
  waiting.abort("second");
  running.abort("first");
  expect((await ended).map((each) => each.status === "rejected" && each.reason)).toEqual(["first", "second"]);
  expect(await last).toMatchObject({ message: "c0" });
  await expect(pool.run({ expression: "d" }, running)).rejects.toBe("first");
});

test("a pool with one task per thread keeps no state from one task to the next", async () => {
  const counts = `
    const { port } = require("node:worker_threads").workerData;
    let count = 0;
    port.on("message", ({ expression }) => port.postMessage({ state: "broken", message: expression + ++count }));
    port.postMessage({ state: "ready" });
  `;
  const said = async (isForOneTask: boolean) => {
    const pool = poolOf(counts, 15_000, 1, isForOneTask);
    return Promise.all(["a", "b"].map((expression) => pool.run({ expression })));
  };
  expect(await said(false)).toMatchObject([{ message: "a1" }, { message: "b2" }]);
  expect(await said(true)).toMatchObject([{ message: "a1" }, { message: "b1" }]);
});

test("a pool whose workers cannot start rejects each task", async () => {
  const pool = poolOf("throw new Error('no')", 1000, 2);
  await expect(pool.run({ expression: "1" })).rejects.toThrow("could not start");
  await expect(pool.run({ expression: "1" })).rejects.toThrow("could not start");
});

test("a closed pool rejects waiting and new tasks", async () => {
  const pool = start({ code: OBEDIENT }, 10_000);
  const waiting = pool.run({ expression: "spin" });
  const settled = expect(waiting).rejects.toThrow("closed");
  await pool.close();
  await settled;
  await expect(pool.run({ expression: "1" })).rejects.toThrow("closed");
});

test("a built program is used when it is newer than its sources, and works", async () => {
  const root = mkdtempSync(join(tmpdir(), "expression-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const built = join(root, "dist", "expression-worker.mjs");
  mkdirSync(join(root, "server/compute"), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(root, "node_modules"));
  symlinkSync(import.meta.dirname, join(root, "server/compute", "expression"));
  writeFileSync(join(root, "package.json"), "{}");
  expect(await findProgram("expression", root)).toEqual({ code: expect.stringContaining("postMessage") });

  await build({
    entryPoints: [join(import.meta.dirname, "worker.ts")],
    outfile: built,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  expect(await findProgram("expression", root)).toEqual({ file: built });
  const pool = start(await findProgram("expression", root), 10_000);
  onTestFinished(() => pool.close());
  expect(await pool.run({ expression: "1 / 4" })).toMatchObject({
    state: "done",
    output: { result: "0.25" },
  });

  utimesSync(built, 1, 1);
  expect(await findProgram("expression", root)).toHaveProperty("code");
});

test("a process that has evaluated exits automatically", () => {
  const root = process.cwd();
  const script = `
    import { evaluateExpression } from ${JSON.stringify(join(root, "server/compute/expression/index.ts"))};
    evaluateExpression({ expression: "6 * 7" }).then(({ result }) => console.log(result));
  `;
  const child = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    cwd: root,
    encoding: "utf8",
    timeout: 15_000,
  });
  expect({ status: child.status, stdout: child.stdout.trim() }).toEqual({ status: 0, stdout: "42" });
});
