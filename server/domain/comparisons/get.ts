import type { Comparison, ComparisonEntry, ComparisonShown } from "@/server/contract/comparisons";
import { isPrivate } from "@/server/contract/envelope";
import type { Ctx, Scope } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { principalNames } from "@/server/domain/organizations";
import { findComparison, toComparison } from "./rows";
import { works } from "./works";

/**
 * Returns the current comparison, its entries in the drawn order. Throws NotFound if the caller may not see
 * it.
 */
export async function get(ctx: Ctx, comparisonId: string, right: Scope = "jobs:read"): Promise<Comparison> {
  return (await read(ctx, comparisonId, right)).comparison;
}

/**
 * Returns a comparison for a person, with the name of the judge. Private content is included only if
 * `withContent` is true.
 */
export async function shown(
  ctx: Ctx,
  comparisonId: string,
  { withContent }: { withContent: boolean },
): Promise<ComparisonShown> {
  const { comparison, isContentPrivate } = await read(ctx, comparisonId, "jobs:read");
  const { judgement } = comparison;
  const names = judgement ? await principalNames([judgement.judgedBy]) : null;
  const isHidden = isContentPrivate && !withContent;
  return {
    ...comparison,
    entries: isHidden ? comparison.entries.map(withoutContent) : comparison.entries,
    judgedByName: judgement ? (names?.get(judgement.judgedBy) ?? null) : null,
    isPrivate: isContentPrivate,
    work: (await works(ctx, [comparisonId])).get(comparisonId) ?? null,
  };
}

/** Removes an entry's output, files and vendor messages, and the values of its recipe. */
function withoutContent({ competitor, ...entry }: ComparisonEntry): ComparisonEntry {
  const isRecipe = competitor?.axis === "recipe";
  return {
    ...entry,
    ...(competitor ? { competitor: isRecipe ? { ...competitor, inputOverrides: null } : competitor } : {}),
    typedOutput: null,
    artifacts: [],
    error: jobs.withoutVendorWords(entry.error),
  };
}

async function read(ctx: Ctx, comparisonId: string, right: Scope) {
  const row = await findComparison(ctx, comparisonId, right);
  // The view of the jobs hides everything that identifies a competitor before the judgement.
  const entryJobs = await Promise.all(row.entries.map(({ job_id }) => jobs.get(ctx, job_id, right)));
  const isContentPrivate = entryJobs.some(({ dataClassification }) => isPrivate(dataClassification));
  return { comparison: toComparison(row, entryJobs, ctx.now()), isContentPrivate };
}
