import type { OfWork } from "@/server/contract/work";
import * as comparisons from "@/server/domain/comparisons";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";

type Ids = { jobId?: string | null; comparisonId?: string | null };

/** Adds to each row of a list the work that it is about: its job's, else its comparison's. */
export async function withWork<Line extends Ids>(ctx: Ctx, lines: Line[]): Promise<OfWork<Line>[]> {
  const ids = (name: keyof Ids) => lines.map((line) => line[name]).filter((id) => typeof id === "string");
  const [ofJobs, ofComparisons] = await Promise.all([
    jobs.works(ctx, ids("jobId")),
    comparisons.works(ctx, ids("comparisonId")),
  ]);
  return lines.map((line) => ({
    ...line,
    work: ofJobs.get(line.jobId ?? "") ?? ofComparisons.get(line.comparisonId ?? "") ?? null,
  }));
}

/** Does the same for a page, as the `view` of a procedure. */
export async function pageWithWork<Line extends Ids, Page extends { items: Line[] }>(
  page: Page & { items: Line[] },
  ctx: Ctx,
): Promise<Omit<Page, "items"> & { items: OfWork<Line>[] }> {
  return { ...page, items: await withWork(ctx, page.items) };
}
