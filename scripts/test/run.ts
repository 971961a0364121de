import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build, isBuilt } from "../launch/build";
import { endWithChildren } from "../launch/ending";
import { generate } from "../launch/generate";
import { runBenchTrial } from "./bench";
import { runBrowserTests } from "./browser";
import { LONG_SPECS, longFiles, longTests } from "./campaigns";
import { reachedByChanges } from "./changed";
import { runOutside } from "./outside";
import { BIN, type Count, runTool } from "./process";
import { runTeeth } from "./teeth/run";
import { runUnitTests, type SuiteResult } from "./unit";

const USAGE =
  "Usage: npm test [-- --only unit|e2e|bench] [-- --changed [REVISION]], npm run test:long [-- --seed N], npm run test:teeth [-- NAME …], npm run test:outside [-- --part ci | CLIENT …]";

type Work = () => Promise<Count | SuiteResult[]>;
type Step = [title: string, work: Work];
/** The steps of an inner list run at the same time, since the compiler uses one core only; the lists run one after the other. */
type Steps = Step[][];
/** Vitest's option to leave out the tests that `npm run test:long` alone runs. */
const SHORT = ["--tags-filter=!long"];

/**
 * Runs `npm test`: style, then types and tests with a real database, then the built product in a browser, and beside it each goal
 * of the bench in rounds of a second; what is long runs in part. `--only unit`, `--only e2e` and `--only bench` run a part,
 * `--changed` runs what uncommitted changes (or those since a revision) can reach, and `--long` runs in full what is long
 * (campaigns.ts). `--teeth` plants faults that the tests have to notice, and `--outside` runs other people's clients (`--part
 * ci`: the few that take little time). The last line printed is `N passed, N failed`; the exit code is 0 only when nothing
 * failed.
 */
export async function test(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      changed: { type: "boolean" },
      long: { type: "boolean" },
      teeth: { type: "boolean" },
      outside: { type: "boolean" },
      part: { type: "string" },
      seed: { type: "string" },
    },
    allowPositionals: true,
  });
  const isNumber = values.seed === undefined || /^\d{1,9}$/.test(values.seed);
  const isPart = values.part === undefined || (values.outside && values.part === "ci");
  if ((values.only && !["unit", "e2e", "bench"].includes(values.only)) || !isNumber || !isPart)
    throw new Error(USAGE);
  endWithChildren();
  const scratch = mkdtempSync(join(tmpdir(), "capstan-e2e-"));
  await chmod(scratch, 0o711);
  const total = openTotal();
  try {
    generate();
    const steps = values.teeth
      ? teethOnly(positionals)
      : values.outside
        ? outside(scratch, values.part ? ["--part", values.part] : positionals)
        : values.long
          ? campaigns(scratch, Number(values.seed ?? Math.floor(Math.random() * 1e9)))
          : values.changed
            ? await changedOnly(scratch, positionals[0])
            : everything(scratch, values.only);
    for (const together of steps) await Promise.all(together.map(([title, work]) => total.add(title, work)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  process.exit(total.print());
}

const types: Step = ["types", () => command("tsc", ["--noEmit"])];
const built: Step = ["build", buildOnce];
const bench: Step = ["bench", runBenchTrial];
const style: Step = ["style", () => command("biome", ["check", "."])];

function everything(scratch: string, only?: string): Steps {
  const env = { TESTS_LEFT_OUT: longFiles().join(",") };
  const tests: Step = ["tests", () => runUnitTests({ scratch, options: SHORT, env })];
  const browser: Step = ["browser", () => runBrowserTests({ scratch, options: ["--grep-invert", "@long"] })];
  if (only === "bench") return [[built], [bench]];
  // Rounds of the bench mostly wait, so browsers have the cores meanwhile.
  return [
    ...(only === "e2e" ? [] : [[style], [types, tests]]),
    ...(only === "unit" ? [] : [[built], only === "e2e" ? [browser] : [browser, bench]]),
  ];
}

async function changedOnly(scratch: string, revision = "HEAD"): Promise<Steps> {
  const reached = await reachedByChanges(revision);
  console.log(`${reached.changed.length} files changed: ${reached.why}`);
  if (reached.everything) return everything(scratch);
  const long = new Set(longFiles());
  const files = reached.tests.filter((file) => !long.has(file));
  const tests: Step = ["tests", () => runUnitTests({ scratch, files, options: SHORT })];
  const steps: Steps = [[style], files.length > 0 ? [types, tests] : [types]];
  const products: Step[] = [
    ...(reached.specs.length > 0
      ? [["browser", () => runBrowserTests({ scratch, specs: reached.specs })] satisfies Step]
      : []),
    ...(reached.changed.some((file) => file.startsWith("bench/")) ? [bench] : []),
  ];
  if (products.length > 0) steps.push([built], products);
  return steps;
}

function campaigns(scratch: string, seed: number): Steps {
  console.log(`Seed ${seed}. The same again: npm run test:long -- --seed ${seed}`);
  // `npm test` has a database server in another zone (testing/setup/global.ts).
  const env = {
    CAPSTAN_CAMPAIGN: "full",
    CAPSTAN_SEED: String(seed),
    CAPSTAN_TEST_ZONE: "America/St_Johns",
  };
  const { whole, tagged } = longTests();
  return [
    [["campaigns", () => runUnitTests({ scratch, files: whole, env })]],
    [["long tests", () => runUnitTests({ scratch, files: tagged, env, options: ["--tags-filter=long"] })]],
    [built],
    [["browser", () => runBrowserTests({ scratch, options: ["--grep", LONG_SPECS], env })]],
    ...teethOnly([]),
  ];
}

const teethOnly = (names: string[]): Steps => [[["teeth", () => runTeeth(names)]]];

const outside = (scratch: string, args: string[]): Steps => [
  [built],
  [["outside", () => runOutside(scratch, args)]],
];

async function command(tool: string, args: string[]): Promise<Count> {
  const code = await runTool(join(BIN, tool), args);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function buildOnce(): Promise<Count> {
  if (!isBuilt()) await build();
  return { passed: 1, failed: 0 };
}

function openTotal() {
  const parts: SuiteResult[] = [];
  return {
    async add(title: string, work: Work) {
      console.log(`\n── ${title}`);
      const beganAt = performance.now();
      const result = await work().catch((error: unknown): Count => {
        console.error(error instanceof Error ? error.message : error);
        return { passed: 0, failed: 1 };
      });
      const seconds = (performance.now() - beganAt) / 1000;
      parts.push(...(Array.isArray(result) ? result : [{ title, seconds, ...result }]));
    },
    /** Prints the table and the total, and returns the exit code. */
    print(): number {
      const sum = (of: (part: SuiteResult) => number) => parts.reduce((all, part) => all + of(part), 0);
      const passed = sum((part) => part.passed);
      const failed = sum((part) => part.failed);
      const rows = [
        ["part", "files", "tests", "seconds"],
        ...parts.map((part) => [
          part.title,
          part.files === undefined ? "" : String(part.files),
          String(part.passed + part.failed),
          part.seconds.toFixed(0),
        ]),
      ];
      console.log(`\n${rows.map(([title, ...cells]) => row(title!, cells)).join("\n")}`);
      const flaky = parts.flatMap((part) => part.flaky ?? []);
      const failures = parts.flatMap((part) =>
        part.failed > 0 ? (part.failures?.length ? part.failures : [part.title]) : [],
      );
      const notRun = parts.flatMap((part) => part.notRun ?? []);
      if (notRun.length > 0) console.log(`\nNot run, as something is missing:\n${notRun.join("\n")}`);
      if (flaky.length > 0) console.log(`\nPassed only the second time:\n${flaky.join("\n")}`);
      if (failures.length > 0) console.log(`\nFailed:\n${failures.join("\n")}`);
      console.log(`\n${passed} passed, ${failed} failed`);
      return failed === 0 && passed > 0 ? 0 : 1;
    },
  };
}

const row = (title: string, cells: string[]) =>
  title.padEnd(10) + cells.map((cell) => cell.padStart(9)).join("");
