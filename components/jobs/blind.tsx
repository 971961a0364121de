import { comparisonHref } from "@/components/comparisons/list-state";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { Job } from "@/server/contract/jobs";

/** True while this job's model, cost and duration are hidden, which is until its comparison is judged. */
export const isBlind = ({ comparison }: Pick<Job, "comparison">) => comparison?.isJudged === false;

/** Explains on a blind job's page what is hidden, and links to its comparison. */
export function BlindNotice({ job }: { job: Job }) {
  if (!job.comparison || !isBlind(job)) return null;
  return (
    <Notice tone="busy" title="Blind comparison entry">
      <p>
        The model, cost, duration and receipt are hidden until the comparison is judged.{" "}
        <ComparisonLink job={job}>Open comparison</ComparisonLink>
      </p>
    </Notice>
  );
}

export function ComparisonLink({ job, children }: { job: Job; children: string }) {
  if (!job.comparison) return null;
  return (
    <Link
      href={comparisonHref(job.projectId, job.comparison.comparisonId)}
      className="text-link underline underline-offset-2"
    >
      {children}
    </Link>
  );
}
