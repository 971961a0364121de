import { EyeOff } from "lucide-react";
import Link from "next/link";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import type { Job } from "@/server/contract/jobs";

/** Is it hidden who did this job, for how much and how fast? Until the comparison it competes in is judged. */
export const isBlind = ({ comparison }: Pick<Job, "comparison">) => comparison?.isJudged === false;

/** Stands where a figure of a blind job would. */
export function Hidden() {
  return (
    <span className="inline-flex items-center gap-1 text-muted" title="Hidden until the comparison is judged">
      <EyeOff aria-hidden className="size-3.5" />
      Hidden
    </span>
  );
}

/** Says on the page of a blind job what is not shown, and where it can be judged. */
export function BlindNotice({ job }: { job: Job }) {
  if (!job.comparison || !isBlind(job)) return null;
  return (
    <Notice tone="busy" title="An entry of a blind comparison">
      <p>
        Who did it, for how much and how fast is hidden until the comparison is judged.{" "}
        <ComparisonLink job={job}>Look at the comparison</ComparisonLink>
      </p>
    </Notice>
  );
}

/** The place of a card whose content is hidden as long. */
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
