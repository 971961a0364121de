import type { MainJobRow } from "../main-job";
import type { Report } from "./report";
import { aligned } from "./table";

/** Runs the first job of a new installation and reports it. A failed job is reported, too, and does not end the start. */
export async function runFirstJob(report: Report, run: () => Promise<MainJobRow[]>): Promise<void> {
  try {
    const rows = await report.step("Running a first job over HTTP", run);
    for (const line of tableOf(rows)) report.say(line);
  } catch (error) {
    report.say(`The first job failed: ${error instanceof Error ? error.message : error}`);
    report.say("Capstan keeps running. See the logs of web and worker.");
  }
}

function tableOf(rows: MainJobRow[]): string[] {
  return aligned([
    ["capability", "job", "receipt", "admitted", "done", "events", "output"],
    ...rows.map((row) => [
      row.capability,
      row.jobId,
      row.receiptId,
      `${row.submitMs.toFixed(0)} ms`,
      `${row.totalMs.toFixed(0)} ms`,
      String(row.events),
      row.output,
    ]),
  ]).map((line) => `  ${line}`);
}
