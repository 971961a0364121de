import { expect } from "vitest";
import { resolveHold } from "@/server/domain/budgets";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import type { TestProject } from "@/testing/world";
import * as usage from ".";

/** Runs one pinned request to its end, failed or not, and returns its id. */
export async function pin(project: TestProject, model: string): Promise<string> {
  const body = {
    pin: { provider: "sandbox", model, api: "responses" },
    input: "How deep is the sea? Say it in 40 sentences, please.",
    sampling: { maxOutputTokens: 400 },
    externalRef: `of ${model}`,
    tags: ["deep"],
  };
  try {
    return (await pins.run(project.ctx, body)).executionId;
  } catch (fault) {
    return (fault as { details: { executionId: string } }).details.executionId;
  }
}

/**
 * Sums the ledger: the customer's charge for a project's executions including the fee, the fee alone, and
 * the charge on own accounts.
 */
export async function ledgerOf(projectId: string): Promise<{ charged: number; fee: number; own: number }> {
  const { rows } = await pool.query(
    `SELECT coalesce(-sum(amount_micros) FILTER (WHERE account ~ '^(wallet|allowance):'), 0)::bigint AS charged,
       coalesce(-sum(amount_micros) FILTER (WHERE account ~ '^external:'), 0)::bigint AS own,
       coalesce(sum(amount_micros) FILTER (WHERE account = 'service_fee'), 0)::bigint AS fee
     FROM ledger_entry WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

/** Resolves a lost execution with the charge that a person found. */
export async function resolve(project: TestProject, jobId: string, chargedMicros: number) {
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM hold WHERE execution_id = $1", [jobId]);
  const note = "seen on the bill";
  await resolveHold(
    systemCtx("operator", project.clock.now),
    rows[0]?.id ?? "",
    chargedMicros > 0 ? { chargedMicros, note } : { notCharged: true, note },
  );
}

/** Parses a file into lines by column name. The parser is independent, so it checks the quoting. */
function parse(csv: string): Record<string, string>[] {
  const table: string[][] = [[]];
  let field = "";
  let isQuoted = false;
  for (let at = 0; at < csv.length; at++) {
    const char = csv[at];
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (csv[at + 1] === '"') field += csv[++at];
      else isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === "," || char === "\r") {
      table.at(-1)?.push(field);
      field = "";
      if (char === "\r") {
        expect(csv[++at]).toBe("\n");
        table.push([]);
      }
    } else field += char;
  }
  expect(table.pop()).toEqual([]); // the last line ends as every line does
  const [names = [], ...lines] = table;
  return lines.map((line) => {
    expect(line.length).toBe(names.length);
    return Object.fromEntries(names.map((name, place) => [name, line[place] ?? ""]));
  });
}

export async function exported(ctx: Ctx, days = 2) {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const now = Date.now();
  const query = { from: day(now - DAY_MS), to: day(now + days * DAY_MS) };
  const { content } = await usage.usageFile(ctx, query);
  let csv = "";
  for await (const piece of content) csv += Buffer.from(piece).toString("utf8");
  return { csv, lines: parse(csv) };
}

/** Returns the exact micros of a decimal, without floating point. */
function micros(decimal: string): bigint {
  const [, sign = "", whole = "0", fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(decimal) ?? [];
  return BigInt(`${sign}${whole}${fraction.padEnd(6, "0")}`);
}
export const total = (lines: Record<string, string>[], column: string) =>
  lines.reduce((sum, line) => sum + micros(line[column] || "0"), 0n);
