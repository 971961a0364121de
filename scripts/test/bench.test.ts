import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ALL_GOALS, parseOptions, USUAL_GOALS } from "../../bench/options";
import { missingOf } from "../../bench/rig/peers";
import { countTried } from "./bench";

const tried = USUAL_GOALS.map((goal) => ({ goal, faults: [] as string[], missing: [] as string[] }));

test("a goal of the bench that lacks something has not passed, and says what it lacks", () => {
  const lacking = tried.map((one) => (one.goal === "submit" ? { ...one, missing: ["pgbench"] } : one));
  expect(countTried(tried, false)).toMatchObject({ passed: 6, failed: 0, notRun: [] });
  expect(countTried(lacking, false)).toMatchObject({
    passed: 5,
    failed: 0,
    notRun: ["bench: submit: there is no pgbench"],
  });
  expect(countTried(lacking, true)).toMatchObject({
    passed: 5,
    failed: 1,
    failures: ["bench: submit: there is no pgbench"],
  });
});

test("a goal of the bench that fails or is never reached counts as failed, and the other goals count as they ended", () => {
  const [first, , ...others] = tried;
  const some = [{ ...first!, faults: ["rows are missing"] }, ...others];
  expect(countTried(some, false)).toMatchObject({
    passed: 4,
    failed: 2,
    failures: [expect.stringContaining("counts: was not reached"), "bench: catalog: rows are missing"],
  });
});

test("missingOf describes the tools that are not in PATH", () => {
  const { PATH } = process.env;
  process.env.PATH = "";
  try {
    expect(missingOf(["linux", "wrk"])).toEqual([
      expect.stringMatching(/^Linux with taskset \(/),
      expect.stringMatching(/^wrk \(/),
    ]);
  } finally {
    process.env.PATH = PATH;
  }
});

test("the bench refuses wrong options with a message about them", () => {
  expect(parseOptions(["--only", "submit,invoke"]).goals).toEqual(["invoke", "submit"]);
  expect(parseOptions([]).goals).toEqual(USUAL_GOALS);
  for (const [args, sentence] of [
    [["--only", "invokes"], /--only takes some of calls, catalog, counts/],
    [["--only", ""], /Give --only once, with a value/],
    [["--only", "invoke,invoke"], /each once/],
    [["--only", "invoke", "--only", "start"], /Give --only once/],
    [["--only"], /--only/],
    [["--only", "calls"], /Give --only calls the checkout to compare with/],
    [["--only", "invoke", "--against", "."], /--against names the checkout that calls compares with/],
    [["--against", ""], /Give --against once, with a value/],
    [["--against", ".", "--against", "."], /Give --against once/],
    [["--match", "quote"], /--match chooses routes of --only blocking/],
    [["--only", "blocking", "--match", ""], /Give --match once, with a value/],
    [["--profile", ""], /Give --profile once, with a value/],
    [["--trial", "--quick"], /not both/],
    [["--trial=1"], /--trial/],
    [["--fast"], /--fast/],
    [["invoke"], /invoke/],
  ] as const)
    expect(() => parseOptions([...args]), args.join(" ")).toThrow(sentence);
});

test("the bench compares with a checkout that is installed and built from its sources", () => {
  mkdirSync("test-results", { recursive: true });
  const folder = mkdtempSync("test-results/checkout-"); // inside this checkout, whose tsx runs the check
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const against = () => parseOptions(["--only", "calls,counts", "--against", folder]);
  for (const part of [
    "scripts/up.mjs",
    "node_modules/.package-lock.json",
    ".next/BUILD_ID",
    "dist/.built-from",
  ]) {
    expect(against).toThrow(`is no checkout that is installed and built: it has no ${part}.`);
    write(part, "");
  }
  write("scripts/launch/build.ts", "export const isBuilt = (): boolean => false;");
  expect(against).toThrow("was built from other sources than it has: run npm run build there.");
  write("scripts/launch/build.ts", "export const isBuilt = (): boolean => true;");
  expect(parseOptions(["--against", folder])).toMatchObject({
    goals: ALL_GOALS,
    against: { folder: resolve(folder) },
  });
});
