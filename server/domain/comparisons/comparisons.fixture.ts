import type { Comparison, Competitor } from "@/server/contract/comparisons";
import { ComparisonCreateRequest } from "@/server/contract/comparisons";
import * as comparisons from "@/server/domain/comparisons";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, type TestProject } from "@/testing/world";

export const TEXT = "text.general.fast.v1";
export const QUESTION = { messages: [{ role: "user", content: "Why is the sea salty?" }] };

/** Competitors that pin models of the sandbox: `1`, `2`, `refuse`, … */
export const pinned = (...models: string[]): Competitor[] =>
  models.map((model) => ({ axis: "provider", providerPin: `sandbox/sandbox-${model}` }));

/** Creates a comparison as a caller of the project. */
export function ask(
  { ctx }: Pick<TestProject, "ctx">,
  competitors: Competitor[],
  { capability = TEXT, ...more }: { capability?: string } & Record<string, unknown> = {},
): Promise<Comparison> {
  const body = { context: {}, competitors, input: QUESTION, ...more };
  return comparisons.create(ctx, capability, ComparisonCreateRequest.parse(body));
}

/** Runs the jobs of a comparison one after another and reads the comparison again. */
export async function finished(project: TestProject, { comparisonId, entries }: Comparison) {
  for (const { jobId } of entries) await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return comparisons.get(project.ctx, comparisonId);
}

/** Counts a project's rows in the tables that a comparison writes. */
export async function written({ projectId }: Pick<TestProject, "projectId">) {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table} WHERE project_id = $1) AS ${table}`;
  const tables = ["comparison", "comparison_entry", "job", "hold", "payload", "job_event"];
  const { rows } = await pool.query(`SELECT ${tables.map(count).join(", ")}`, [projectId]);
  return rows[0];
}
export const NOTHING = { comparison: 0, comparison_entry: 0, job: 0, hold: 0, payload: 0, job_event: 0 };
