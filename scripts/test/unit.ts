import { join, relative } from "node:path";
import { z } from "zod";
import { findFile } from "../launch/files";
import { BIN, type Count, cleanEnv, runTool } from "./process";

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      startTime: z.number(),
      endTime: z.number(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});
type FileReport = z.infer<typeof Report>["testResults"][number];

/** Result of a project of vitest.config.ts, or of another step of run.ts. */
export type SuiteResult = Count & { title: string; seconds: number };

/** Names of files say what a test needs; vitest.config.ts reads them in the same way. */
const PROJECTS: [title: string, isOf: (file: string) => boolean][] = [
  ["isolated", (file) => /\.isolated\.test\.ts$/.test(file)],
  ["database", (file) => /\.db\.test\.ts$/.test(file)],
  ["pure", () => true],
];

type Options = { scratch: string; files?: string[]; options?: string[]; env?: Record<string, string> };

/**
 * Runs these test files, or all. The files with failures run once more, and count with that run; a failure that does not come
 * again is reported as flaky.
 */
export async function runUnitTests({
  scratch,
  files = [],
  options = [],
  env = {},
}: Options): Promise<SuiteResult[]> {
  const first = await runVitest(join(scratch, "vitest.json"), [...files, ...options], env);
  const broken = first.files.filter(hasFailed);
  let flaky: string[] = [];
  let results = first.files;
  if (broken.length > 0) {
    console.log(`\n── once more: ${broken.map(nameOf).join(", ")}`);
    const second = await runVitest(
      join(scratch, "vitest-again.json"),
      [...broken.map(nameOf), ...options],
      env,
    );
    const still = new Set(second.files.flatMap(failuresOf));
    flaky = broken.flatMap(failuresOf).filter((failure) => !still.has(failure));
    results = [
      ...first.files.filter((file) => !hasFailed(file)),
      ...broken.map((file) => second.files.find(({ name }) => name === file.name) ?? file),
    ];
  }
  const parts = partsOf(results, flaky);
  // When vitest's worker crashes, no file's report says so.
  if (first.code !== 0 && broken.length === 0)
    parts.push({
      title: "vitest",
      seconds: 0,
      passed: 0,
      failed: 1,
      failures: ["vitest ended with an error"],
    });
  return parts;
}

function partsOf(results: FileReport[], flaky: string[]): SuiteResult[] {
  const titleOf = (file: FileReport) => PROJECTS.find(([, isOf]) => isOf(file.name))![0];
  return PROJECTS.map(([title]) => title)
    .reverse()
    .flatMap((title) => {
      const files = results.filter((file) => titleOf(file) === title);
      if (files.length === 0) return [];
      const failures = files.flatMap(failuresOf);
      const names = new Set(files.map(nameOf));
      return {
        title,
        files: files.length,
        passed: files.flatMap(({ assertionResults }) => assertionResults).filter(isPassed).length,
        failed: failures.length,
        failures,
        flaky: flaky.filter((failure) => names.has(failure.split(/[:>] /, 1)[0]!.trim())),
        seconds:
          (Math.max(...files.map(({ endTime }) => endTime)) -
            Math.min(...files.map(({ startTime }) => startTime))) /
          1000,
      };
    });
}

async function runVitest(reportFile: string, chosen: string[], env: Record<string, string>) {
  const args = ["run", ...chosen, "--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const code = await runTool(join(BIN, "vitest"), args, cleanEnv(env));
  const text = findFile(reportFile);
  if (!text) throw new Error(`vitest ended with ${code} and wrote no report.`);
  return { code, files: Report.parse(JSON.parse(text)).testResults };
}

const isPassed = ({ status }: { status: string }) => status === "passed";
const hasFailed = ({ status }: FileReport) => status === "failed";
const nameOf = ({ name }: FileReport) => relative(process.cwd(), name);

/** Lists the failed tests of a file; a file that could not be loaded has none and counts as one failure. */
function failuresOf(file: FileReport): string[] {
  if (!hasFailed(file)) return [];
  const failed = file.assertionResults.filter(({ status }) => status === "failed");
  if (failed.length > 0) return failed.map(({ fullName }) => `${nameOf(file)} > ${fullName}`);
  return [`${nameOf(file)}: ${(file.message || "could not be loaded").split("\n", 1)[0]}`];
}
