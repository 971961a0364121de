import type { Comparison, ComparisonEntry, ComparisonShown } from "@/server/contract/comparisons";
import { isPrivate } from "@/server/contract/envelope";
import type { Ctx, Scope } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { namesOf } from "@/server/domain/organizations";
import { findComparison, toComparison } from "./rows";
import { works } from "./works";

/** The comparison as it is, its entries in the order that was drawn. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, comparisonId: string, right: Scope = "jobs:read"): Promise<Comparison> {
  return (await read(ctx, comparisonId, right)).comparison;
}

/** The same as people read it: with the name of who judged it, and somebody's own words only where they are asked for. */
export async function shown(
  ctx: Ctx,
  comparisonId: string,
  { withContent }: { withContent: boolean },
): Promise<ComparisonShown> {
  const { comparison, isContentPrivate } = await read(ctx, comparisonId, "jobs:read");
  const { judgement } = comparison;
  const names = judgement ? await namesOf([judgement.judgedBy]) : null;
  const isHidden = isContentPrivate && !withContent;
  return {
    ...comparison,
    entries: isHidden ? comparison.entries.map(withoutContent) : comparison.entries,
    judgedByName: judgement ? (names?.get(judgement.judgedBy) ?? null) : null,
    isPrivate: isContentPrivate,
    work: (await works(ctx, [comparisonId])).get(comparisonId) ?? null,
  };
}

/** An entry without what it made, and without what a recipe put in its place. */
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
  // Read through the jobs' own view, which leaves out what betrays a competitor before the judgement.
  const entryJobs = await Promise.all(row.entries.map(({ job_id }) => jobs.get(ctx, job_id, right)));
  const isContentPrivate = entryJobs.some(({ dataClassification }) => isPrivate(dataClassification));
  return { comparison: toComparison(row, entryJobs, ctx.now()), isContentPrivate };
}
