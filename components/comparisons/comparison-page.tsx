"use client";
import { useQuery } from "@tanstack/react-query";
import { EyeOff } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { dollars, wholeDollars } from "@/components/blocks/money/money";
import { workTitle } from "@/components/blocks/work/work";
import { sentencesOf, useTRPC } from "@/components/data/trpc";
import { chargeText } from "@/components/jobs/charge-words";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { Card } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Figure, Figures } from "@/components/ui/figures";
import { HiddenContent } from "@/components/ui/hidden-content";
import { JsonView } from "@/components/ui/json-view";
import { Skeleton } from "@/components/ui/skeleton";
import type { Comparison, ComparisonEntry, ComparisonShown } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/enums";
import { Entries } from "./entries";
import { JudgeForm } from "./judge-form";
import { comparisonsHref } from "./list-state";
import { isJudged, UseTheWinner, Verdict } from "./verdict";
import { ComparisonStatusBadge, DecisionBadge, INTENT_WORDS } from "./words";

const MS = 1000;
/** The polling interval while anyone may judge. */
const UNJUDGED_MS = 15_000;

function pollMs({ nextAction, pollAfterSeconds }: Comparison): number | false {
  if (nextAction === "poll") return (pollAfterSeconds ?? 4) * MS;
  return nextAction === "judge" ? UNJUDGED_MS : false;
}

/** One comparison: the results side by side, the judgement, and then the revealed competitors. */
export function ComparisonPage({ comparisonId, projectId }: { comparisonId: string; projectId: string }) {
  const trpc = useTRPC();
  const { data: comparison } = useLive(
    trpc.comparisons.get.queryOptions({ comparison_id: comparisonId }),
    (read) => pollMs(read),
  );
  return (
    <>
      <Head comparison={comparison} projectId={projectId} />
      <div className="space-y-5 max-sm:pb-16">
        {isJudged(comparison) ? (
          <Verdict comparison={comparison} />
        ) : (
          <p className="flex items-start gap-2 text-sm text-muted">
            <EyeOff aria-hidden className="mt-0.5 size-4 shrink-0" />
            Models, costs and durations are hidden until the comparison is judged. The order of entries is
            random.
          </p>
        )}
        {comparison.isPrivate ? (
          <PrivateEntries comparison={comparison} />
        ) : (
          <Entries comparison={comparison} />
        )}
        {isJudged(comparison) ? (
          <UseTheWinner comparison={comparison} />
        ) : (
          <JudgeForm comparison={comparison} />
        )}
        <Asked comparison={comparison} />
      </div>
    </>
  );
}

/** Private content is fetched only when the reader asks for it. */
function PrivateEntries({ comparison }: { comparison: ComparisonShown }) {
  const trpc = useTRPC();
  const [isShown, setShown] = useState(false);
  const whole = useQuery({
    ...trpc.comparisons.content.queryOptions({ comparison_id: comparison.comparisonId }),
    enabled: isShown,
    refetchInterval: pollMs(comparison),
  });
  if (whole.data) return <Entries comparison={whole.data} />;
  return (
    <Card>
      <HiddenContent of="comparison" pending={whole.isFetching} onShow={() => setShown(true)} />
    </Card>
  );
}

function Head({ comparison, projectId }: { comparison: ComparisonShown; projectId: string }) {
  const title = workTitle(comparison.work);
  const { entries, estimatedCost, maximumCost } = comparison;
  const ended = entries.filter(({ status }) => TERMINAL.includes(status)).length;
  return (
    <PageHeader
      back={{ href: comparisonsHref(projectId), label: "Comparisons" }}
      title={title ?? comparison.capabilityKey}
      badge={
        <>
          <ComparisonStatusBadge status={comparison.status} />{" "}
          {!isJudged(comparison) && <DecisionBadge line={{ decision: null, status: comparison.status }} />}
        </>
      }
      id={
        <span className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
          {title !== null && comparison.capabilityKey}
          <CopyableId id={comparison.comparisonId} what="comparison id" />
        </span>
      }
      foot={
        <Figures>
          <Figure name="Created">
            <Moment at={comparison.createdAt} />
          </Figure>
          <Figure name="Intent">{INTENT_WORDS[comparison.intent].name}</Figure>
          <Figure name="Finished">
            {ended} of {entries.length}
          </Figure>
          <Figure
            name="Estimated cost"
            note={maximumCost !== estimatedCost && `up to ${wholeDollars(maximumCost)}`}
          >
            {wholeDollars(estimatedCost)}
          </Figure>
          {isJudged(comparison) && <Figure name="You pay">{paidFor(entries)}</Figure>}
        </Figures>
      }
    />
  );
}

/** The sum that the entries were charged, formatted as in the table of results. */
function paidFor(entries: readonly ComparisonEntry[]): string {
  const charges = entries.flatMap(({ charge }) => (charge ? [chargeText(charge).micros] : []));
  const sum = charges.reduce<number>((total, micros) => total + (micros ?? 0), 0);
  return charges.includes(null) ? `${dollars(sum)} so far` : dollars(sum);
}

/** The request as the first entry received it, loaded when opened. */
function Asked({ comparison }: { comparison: Comparison }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="px-4 py-3 text-sm font-semibold hover:bg-hover">Request</summary>
        {isOpen && <Request comparison={comparison} />}
      </details>
    </Card>
  );
}

function Request({ comparison }: { comparison: Comparison }) {
  const trpc = useTRPC();
  const jobId = comparison.entries[0]?.jobId ?? "";
  const { data: job, error } = useQuery(trpc.jobs.get.queryOptions({ job_id: jobId }));
  return (
    <div className="border-t border-line p-4" aria-busy={!job && !error}>
      {error ? (
        <p className="text-sm text-muted">{sentencesOf(error)}</p>
      ) : !job ? (
        <Skeleton className="h-24 w-full" />
      ) : job.requestSnapshot?.input === undefined ? (
        <p className="text-sm text-muted">The content of this request is private or no longer stored.</p>
      ) : (
        <JsonView value={job.requestSnapshot.input} what="request input" />
      )}
    </div>
  );
}
