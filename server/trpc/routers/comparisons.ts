import { z } from "zod";
import { CapabilityRef } from "@/server/contract/capabilities";
import {
  Comparison,
  ComparisonCreateRequest,
  ComparisonEstimate,
  ComparisonEstimateRequest,
  ComparisonLine,
  ComparisonPage,
  ComparisonRef,
  ComparisonShown,
  CompetitorOptions,
  ListComparisons,
} from "@/server/contract/comparisons";
import { ProjectRef } from "@/server/contract/jobs";
import { ofWork } from "@/server/contract/work";
import * as comparisons from "@/server/domain/comparisons";
import * as api from "@/server/operations/comparisons";
import { router } from "../init";
import { does, mutation, reads } from "../of";
import { pageWithWork } from "../works";

const WorkPage = ComparisonPage.extend({ items: z.array(ComparisonLine.extend(ofWork)) });
/** A capability, for the project on whose page it is compared. */
const Compared = CapabilityRef.extend(ProjectRef.shape);

export const comparisonsRouter = router({
  /** The form's request always runs in the project of its page, whatever the request says. */
  create: does(
    Compared.extend({ body: ComparisonCreateRequest }),
    Comparison,
    (ctx, { capability_key, project_id, body }) =>
      comparisons.create(ctx, capability_key, {
        ...body,
        context: { ...body.context, projectId: project_id },
      }),
  ),
  /** Spends nothing. A mutation (POST), because a body may be too long for a URL. */
  estimate: does(Compared.extend({ body: ComparisonEstimateRequest }), ComparisonEstimate, (ctx, input) =>
    comparisons.estimate(ctx, input.capability_key, input.body, input.project_id),
  ),
  options: reads(Compared, CompetitorOptions, (ctx, input) =>
    comparisons.options(ctx, input.capability_key, input.project_id),
  ),
  list: reads(ListComparisons.extend(ProjectRef.shape), WorkPage, async (ctx, { project_id, ...page }) =>
    pageWithWork(await comparisons.list(ctx, project_id, page), ctx),
  ),
  get: reads(ComparisonRef, ComparisonShown, (ctx, input) =>
    comparisons.shown(ctx, input.comparison_id, { withContent: false }),
  ),
  /** The comparison with its content, for a reader who chose to see private content. */
  content: reads(ComparisonRef, ComparisonShown, (ctx, input) =>
    comparisons.shown(ctx, input.comparison_id, { withContent: true }),
  ),
  judge: mutation(api.judgeComparison),
});
