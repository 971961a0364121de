import { expect, test } from "vitest";
import { runFirstJob } from "./first-job";
import { openReport } from "./report";

function heard() {
  const lines: string[] = [];
  const report = openReport((line) => lines.push(line.replace(/^\[[^\]]*\] /, "")));
  return { lines, report };
}
const row = {
  capability: "text.general.fast.v1",
  jobId: "wfr_1",
  totalMs: 20,
  submitMs: 10,
  events: 5,
  output: "“A capstan”",
  receiptId: "rcpt_1",
};

test("the first job of a new installation is reported row by row", async () => {
  const { lines, report } = heard();
  await runFirstJob(report, async () => [row]);
  expect(lines[0]).toMatch(/^Running a first job over HTTP … done/);
  expect(lines.join("\n")).toMatch(/text\.general\.fast\.v1 .*wfr_1 .*rcpt_1/);
});

test("a first job that fails is a line of the report, and does not end the start", async () => {
  const { lines, report } = heard();
  await runFirstJob(report, () => Promise.reject(new Error("POST /v1/… answered 402: no budget")));
  expect(lines).toEqual([
    "Running a first job over HTTP … failed",
    "The first job failed: POST /v1/… answered 402: no budget",
    "Capstan keeps running. See the logs of web and worker.",
  ]);
});
