import type { BudgetEnforcement, BudgetPeriod } from "@/server/contract/budgets";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { Fault } from "@/server/platform/errors/errors";
import { inlineStep, rowsOf, type TestProject } from "@/testing/world";
import * as budgets from ".";

export const TEXT = "text.general.fast.v1";
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
export const operator = (project: TestProject) => systemCtx("admin", project.clock.now);

type Extra = { model?: string; enforcement?: string; billingMode?: string; key?: string };

export function submit(ctx: Ctx, { model, enforcement, billingMode, key }: Extra = {}) {
  return jobs.submit(ctx, TEXT, {
    input,
    ...(key ? { idempotencyKey: key } : {}),
    execution: {
      ...(billingMode ? { billingMode } : {}),
      executionConstraints: {
        ...(model ? { preferredModel: model } : {}),
        ...(enforcement ? { budgetEnforcement: enforcement } : {}),
      },
    },
  });
}

const codeOf = (error: unknown) => (error instanceof Fault ? error.code : String(error));

/** Submits concurrently; returns the admitted jobs and the distinct error codes of the others. */
export async function submitMany(ctx: Ctx, count: number, extra: Extra = {}) {
  const results = await Promise.allSettled(Array.from({ length: count }, () => submit(ctx, extra)));
  const admitted = results.flatMap((each) => (each.status === "fulfilled" ? [each.value.jobId] : []));
  const codes = results.flatMap((each) => (each.status === "rejected" ? [codeOf(each.reason)] : []));
  return { admitted, codes: [...new Set(codes)] };
}

/** Returns the amount that one execution reserves. */
export async function priceIn(project: TestProject): Promise<number> {
  const { jobId } = await submit(project.ctx);
  const { hold } = await rowsOf(jobId);
  await jobs.cancel(operator(project), jobId);
  return hold.amount_micros;
}

export const run = (project: TestProject, jobId: string) =>
  jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));

type Limits = {
  ceilingMicros: number;
  period?: BudgetPeriod;
  enforcement?: BudgetEnforcement;
  managedOnly?: boolean;
};

export function limit(
  project: TestProject,
  owner: Parameters<typeof budgets.set>[1]["owner"],
  limits: Limits,
) {
  return budgets.set(operator(project), { owner, period: "day", enforcement: "prevent", ...limits });
}

export const ofProject = (project: TestProject) => ({ projectId: project.projectId });
