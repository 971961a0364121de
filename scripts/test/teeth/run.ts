import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { findFile } from "../../launch/files";
import { reachedBy } from "../changed";
import { BIN, type Count, cleanEnv } from "../process";
import { FAULTS, type Fault } from "./faults";

/** Made by `npm run generate`, and not in git. */
const GENERATED = ["server/generated", "next-env.d.ts"];
const Report = z.object({ numPassedTests: z.int(), numFailedTests: z.int() });

/**
 * Plants one fault after the other in a scratch copy of the sources and runs the test that has to notice it. A fault counts
 * as caught when a test fails there and `npm test -- --changed` would have run that test's file. All those files pass
 * without a fault, which is checked first: a copy that is broken would catch everything.
 */
export async function runTeeth(names: string[]): Promise<Count> {
  const faults = FAULTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const copy = copySources();
  try {
    const files = [...new Set(faults.map(({ caughtBy }) => caughtBy))];
    const sound = await runTests(copy, files);
    if (!sound || sound.numFailedTests > 0 || sound.numPassedTests === 0)
      return { passed: 0, failed: 1, failures: ["teeth: the tests do not pass without a fault"] };
    const missed: string[] = [];
    for (const fault of faults) {
      const complaint = await plant(copy, fault);
      console.log(
        `  ${complaint === null ? "caught" : "MISSED"}  ${fault.name}${complaint ? `: ${complaint}` : ""}`,
      );
      if (complaint !== null) missed.push(`teeth: ${fault.name}: ${complaint}`);
    }
    return { passed: faults.length - missed.length, failed: missed.length, failures: missed };
  } finally {
    rmSync(copy, { recursive: true, force: true });
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
    const report = await runTests(copy, [caughtBy]);
    return report && report.numFailedTests > 0 ? null : `${caughtBy} passes with it`;
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

/** The counts of a run in the copy; null when it wrote none. */
async function runTests(copy: string, files: string[]) {
  const reportFile = join(copy, "teeth.json");
  rmSync(reportFile, { force: true });
  const args = ["run", ...files, "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawn(resolve(BIN, "vitest"), args, { cwd: copy, env: cleanEnv(), stdio: "ignore" });
  await new Promise<void>((done, fail) => {
    child.on("error", fail);
    child.on("close", () => done());
  });
  const text = findFile(reportFile);
  return text ? Report.parse(JSON.parse(text)) : null;
}
