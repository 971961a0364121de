import { EyeOff } from "lucide-react";
import Link from "next/link";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import type { Job } from "@/server/contract/jobs";

/** Whether this job's model, cost and duration are hidden: they are until its comparison is judged. */
export const isBlind = ({ comparison }: Pick<Job, "comparison">) => comparison?.isJudged === false;

/** Replaces a figure of a blind job. */
export function Hidden() {
  return (
    <span className="inline-flex items-center gap-1 text-muted" title="Hidden until the comparison is judged">
      <EyeOff aria-hidden className="size-3.5" />
      Hidden
    </span>
  );
}

/** States on a blind job's page what is hidden, and links to its comparison. */
export function BlindNotice({ job }: { job: Job }) {
  if (!job.comparison || !isBlind(job)) return null;
  return (
    <Notice tone="busy" title="Blind comparison entry">
      <p>
        The model, cost and duration are hidden until the comparison is judged.{" "}
        <ComparisonLink job={job}>Open comparison</ComparisonLink>
      </p>
    </Notice>
  );
}

/** A card whose content is hidden until then. */
export function HiddenCard({ job, title, id, what }: { job: Job; title: string; id: string; what: string }) {
  return (
    <Card aria-labelledby={id}>
      <CardHeader title={title} id={id} />
      <CardBody className="flex items-start gap-2 text-sm text-muted">
        <EyeOff aria-hidden className="mt-0.5 size-4 shrink-0" />
        <p>
          {what} <ComparisonLink job={job}>hidden until the comparison is judged</ComparisonLink>.
        </p>
      </CardBody>
    </Card>
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
