import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { findFile } from "../../launch/files";
import { reachedBy } from "../changed";
import { BIN, type Count, cleanEnv } from "../process";
import type { Fault } from "./fault";
import { FAULTS } from "./faults";

/** Made by `npm run generate`, and not in git. */
const GENERATED = ["server/generated", "next-env.d.ts"];
/** Number of copies of the sources; in each, one fault is tested at a time. */
const COPIES = 2;
const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(z.object({ name: z.string(), status: z.string() })),
});

/**
 * Plants one fault after the other in scratch copies of the sources and runs the test file that has to notice it. A fault
 * counts as caught when a test fails there and `npm test -- --changed` would have run that file. Without a fault all
 * those files pass, which is checked first: a copy that is broken would catch everything.
 */
export async function runTeeth(names: string[]): Promise<Count> {
  const unknown = names.filter((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`There is no fault ${unknown.join(", ")}.`);
  const faults = FAULTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const copies: string[] = [];
  try {
    for (let n = 0; n < COPIES; n++) copies.push(copySources());
    const files = [...new Set(faults.map(({ caughtBy }) => caughtBy))];
    const sound = await runTests(copies[0]!, files);
    const broken = files.filter((file) => !sound?.passed.includes(file));
    if (broken.length > 0)
      return { passed: 0, failed: 1, failures: broken.map((file) => `teeth: ${file} fails without a fault`) };
    const missed: string[] = [];
    const waiting = [...faults];
    const work = async (copy: string) => {
      for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
        const complaint = await plant(copy, fault);
        console.log(complaint ? `  MISSED  ${fault.name}: ${complaint}` : `  caught  ${fault.name}`);
        if (complaint) missed.push(`teeth: ${fault.name}: ${complaint}`);
      }
    };
    await Promise.all(copies.map(work));
    return { passed: faults.length - missed.length, failed: missed.length, failures: missed };
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

/** Null when the fault was caught, else why not. */
async function plant(copy: string, { file, find, replace, caughtBy }: Fault): Promise<string | null> {
  const path = join(copy, file);
  const sound = readFileSync(path, "utf8");
  if (sound.split(find).length !== 2) return `${file} does not have the text to replace exactly once`;
  const reached = reachedBy([file]);
  if (!reached.everything && !reached.tests.includes(caughtBy))
    return `--changed does not run ${caughtBy} for ${file}`;
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  );
  try {
    const report = await runTests(copy, [caughtBy], ["--bail=1"]);
    if (!report) return `${caughtBy} could not be run with it`;
    return report.failed > 0 ? null : `${caughtBy} passes with it`;
  } finally {
    writeFileSync(path, sound);
  }
}

function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), "capstan-teeth-"));
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const registries = execFileSync(
    "git",
    ["ls-files", "--others", "--ignored", "--exclude-standard", "*.gen.ts"],
    { encoding: "utf8" },
  );
  for (const file of `${listed}${registries}`.split("\n")) {
    if (file === "" || file.startsWith("node_modules/")) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(file, join(copy, file), { recursive: true, force: true });
  }
  for (const path of GENERATED) cpSync(path, join(copy, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  return copy;
}

/** How many tests failed in a run in the copy, and the files that passed; null when it wrote no report. */
async function runTests(copy: string, files: string[], options: string[] = []) {
  const reportFile = join(copy, "teeth.json");
  rmSync(reportFile, { force: true });
  const args = [
    "run",
    "--tags-filter=!long",
    ...files,
    ...options,
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
  ];
  // Only the planted file is compiled anew.
  const env = cleanEnv({ MODULE_CACHE: join(copy, ".modules") });
  const child = spawn(resolve(BIN, "vitest"), args, { cwd: copy, env, stdio: "ignore" });
  await new Promise<void>((done, fail) => {
    child.on("error", fail);
    child.on("close", () => done());
  });
  const text = findFile(reportFile);
  if (!text) return null;
  const { numFailedTests, testResults } = Report.parse(JSON.parse(text));
  const passed = testResults.filter(({ status }) => status === "passed");
  return { failed: numFailedTests, passed: passed.map(({ name }) => name.slice(copy.length + 1)) };
}
