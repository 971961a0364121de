import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { z } from "zod";
import { SETTINGS } from "@/server/env";
import { build, isBuilt } from "./build";
import { lastLines } from "./child";
import { findFile } from "./files";
import { generate } from "./generate";
import { findRuntime } from "./runtime";
import { endProcess, freePort } from "./system";

/** What a part of the tests came to, and the names of those to look at, which are repeated at the very end. */
type Count = { passed: number; failed: number; failures?: string[]; flaky?: string[] };

const BIN = "node_modules/.bin";
const VitestReport = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
        }),
      ),
    }),
  ),
});
const PlaywrightSuite = z.object({
  get suites() {
    return z.array(PlaywrightSuite).optional();
  },
  specs: z.array(
    z.object({ title: z.string(), file: z.string(), tests: z.array(z.object({ status: z.string() })) }),
  ),
});
const PlaywrightReport = z.object({
  suites: z.array(PlaywrightSuite),
  stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int() }),
  errors: z.array(z.object({ message: z.string().optional() })),
});

/**
 * `npm test`: types, style, tests with a real database, then the product itself in a browser. The last line printed is
 * `N passed, N failed`; the exit code is 0 only when nothing failed. `--only unit` and `--only e2e` do a part.
 */
export async function test(args: string[]) {
  const only = args[0] === "--only" ? args[1] : undefined;
  if (args.length > 0 && only !== "unit" && only !== "e2e")
    throw new Error("Usage: npm test [-- --only unit|e2e]");
  const total = { passed: 0, failed: 0 };
  const failures: string[] = [];
  const flaky: string[] = [];
  const add = async (title: string, work: () => Promise<Count> | Count) => {
    console.log(`\n── ${title}`);
    const count = await Promise.resolve()
      .then(work)
      .catch((error: unknown) => {
        console.error(error instanceof Error ? error.message : error);
        return { passed: 0, failed: 1 } as Count;
      });
    console.log(`── ${title}: ${count.passed} passed, ${count.failed} failed`);
    if (count.failed > 0) failures.push(...(count.failures ?? [title]));
    flaky.push(...(count.flaky ?? []));
    total.passed += count.passed;
    total.failed += count.failed;
  };
  const scratch = mkdtempSync(join(tmpdir(), "capstan-e2e-"));
  await chmod(scratch, 0o711);
  try {
    generate();
    if (only !== "e2e") {
      await add("types", () => command(join(BIN, "tsc"), ["--noEmit"]));
      await add("style", () => command(join(BIN, "biome"), ["check", "."]));
      await add("tests", () => vitest(scratch));
    }
    if (only !== "unit") await add("end to end", () => endToEnd(scratch));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  if (flaky.length > 0) console.log(`\nPassed only the second time:\n${flaky.join("\n")}`);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join("\n")}`);
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}

/** Our own settings would make the tests depend on the machine they run on. */
function cleanEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const rest = Object.entries(process.env).filter(([name]) => !SETTINGS.includes(name));
  return { ...Object.fromEntries(rest), NODE_ENV: "test", ...extra };
}

function runTool(file: string, args: string[], env = cleanEnv()): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env,
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

async function command(file: string, args: string[]): Promise<Count> {
  return (await runTool(file, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Files with a failure run once more, by themselves: what then passes counts as passed, and is told as flaky. */
async function vitest(scratch: string): Promise<Count> {
  const first = await runVitest(join(scratch, "vitest.json"), []);
  if (first.failed === 0 || first.files.length === 0) return first;
  console.log(`\n── once more: ${first.files.join(", ")}`);
  const second = await runVitest(join(scratch, "vitest-again.json"), first.files);
  const still = new Set(second.failures);
  return {
    passed: first.passed + first.failed - second.failed,
    failed: second.failed,
    failures: second.failures,
    flaky: first.failures.filter((failure) => !still.has(failure)),
  };
}

async function runVitest(reportFile: string, files: string[]) {
  const code = await runTool(join(BIN, "vitest"), [
    "run",
    ...files,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
  ]);
  const report = VitestReport.parse(JSON.parse(findFile(reportFile) ?? "null"));
  const broken = report.testResults
    .filter((file) => file.status === "failed")
    .map((file) => ({
      name: relative(process.cwd(), file.name),
      failed: file.assertionResults.filter((one) => one.status === "failed"),
      message: file.message,
    }));
  // A file that could not be loaded has no failed test, and is one failure all the same.
  const failures = broken.flatMap((file) =>
    file.failed.length === 0
      ? [`${file.name}: ${firstLine(file.message)}`]
      : file.failed.map((one) => `${file.name} > ${one.fullName}`),
  );
  return {
    passed: report.numPassedTests,
    failed: failures.length === 0 && code !== 0 ? 1 : failures.length,
    failures,
    files: broken.map((file) => file.name),
  };
}

function firstLine(message = "could not be loaded") {
  return message.split("\n", 1)[0];
}

async function endToEnd(scratch: string): Promise<Count> {
  const specs = readdirSync("e2e", { recursive: true }).filter((name) => String(name).endsWith(".spec.ts"));
  if (specs.length === 0) throw new Error("There are no end-to-end tests in e2e.");
  const browser = await findBrowser();
  if (!isBuilt()) {
    console.log("Building …");
    await build();
  }
  const dataDir = join(scratch, "data");
  // Where the tests that need a Hub put one of their own.
  const hubUrl = `http://127.0.0.1:${await freePort()}`;
  const instance = await startForTests(dataDir, hubUrl);
  try {
    const reportFile = join(scratch, "playwright.json");
    const code = await runTool(
      join(BIN, "playwright"),
      ["test", "--reporter=list,json"],
      cleanEnv({
        CAPSTAN_BASE_URL: instance.baseUrl,
        CAPSTAN_DATA_DIR: dataDir,
        HF_BASE_URL: hubUrl,
        ...(browser && { CHROMIUM_PATH: browser }),
        PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile,
      }),
    );
    const { stats, errors, suites } = PlaywrightReport.parse(JSON.parse(findFile(reportFile) ?? "null"));
    for (const error of errors) console.error(error.message);
    const failed = stats.unexpected + errors.length;
    const named = (status: string) =>
      suites
        .flatMap(specsOf)
        .filter((spec) => spec.tests.some((one) => one.status === status))
        .map((spec) => `e2e/${spec.file} > ${spec.title}`);
    return {
      passed: stats.expected + stats.flaky,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      failures: named("unexpected"),
      flaky: named("flaky"),
    };
  } finally {
    await instance.stop();
  }
}

function specsOf(suite: z.infer<typeof PlaywrightSuite>): z.infer<typeof PlaywrightSuite>["specs"] {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}

/** The product as `npm run up` starts it, on free ports, with a data directory of its own. */
async function startForTests(dataDir: string, hubUrl: string) {
  const child = spawn(process.execPath, ["scripts/up.mjs", "--attached"], {
    env: cleanEnv({
      CAPSTAN_DATA_DIR: dataDir,
      PORT: "0",
      SANDBOX_SLOW_MS: "20000",
      // Receivers of webhooks are on this machine.
      ALLOW_PRIVATE_ADDRESSES: "1",
      HF_BASE_URL: hubUrl,
      // The tests ask more within a minute than people do, all from one address.
      RATE_LIMIT_KEY_PER_MINUTE: "100000",
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "100000",
      LOG_LEVEL: "warn",
    }),
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: process.platform !== "win32",
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.on("message", (message: { ready?: true }) => message.ready && resolve());
    exited.then(() => {
      const logs = ["web", "worker"]
        .map((name) => lastLines(join(dataDir, "logs", `${name}.log`)))
        .join("\n");
      reject(new Error(`The product did not start.\n${logs}`));
    });
  });
  const runtime = findRuntime(dataDir);
  if (!runtime) throw new Error("runtime.json is missing.");
  return {
    baseUrl: runtime.baseUrl,
    stop: async () => {
      if (child.pid) await endProcess(child.pid, 90_000);
      await exited;
    },
  };
}

/** A Chromium: the one of CHROMIUM_PATH, Debian's, or Playwright's own (null: Playwright finds it by itself). */
async function findBrowser(): Promise<string | null> {
  const named = process.env.CHROMIUM_PATH;
  if (named) return named;
  const debian = "/usr/bin/chromium";
  if (existsSync(debian)) return debian;
  const { chromium } = await import("@playwright/test"); // heavy, and for this command only
  if (existsSync(chromium.executablePath())) return null;
  if (process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.log("Installing Debian's Chromium …");
    spawnSync("apt-get", ["update", "-q"], { stdio: "ignore" });
    spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (existsSync(debian)) return debian;
  }
  throw new Error("There is no Chromium. Run: npx playwright install chromium, or set CHROMIUM_PATH.");
}
