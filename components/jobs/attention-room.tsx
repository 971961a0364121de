"use client";
import { CircleCheck } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { column } from "@/components/blocks/list/columns";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { wholeDollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Card, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import type { AttentionItem } from "@/server/contract/jobs";
import { OperatorActions } from "./job-actions";

/** Each kind of job that needs attention, with the reason and the next step. */
const KINDS: { reason: string; title: string; next: string }[] = [
  {
    reason: "output_not_stored",
    title: "The result could not be stored",
    next: "Retry the step once storage works again. Accept keeps the files that were stored; the others are lost.",
  },
  {
    reason: "output_not_processed",
    title: "The result could not be processed",
    next: "The files are stored as the provider made them. Accept keeps them unprocessed; a retry processes them again.",
  },
];

/** For operators: jobs of all projects that need their attention. No content is shown. */
export function AttentionRoom() {
  const trpc = useTRPC();
  const { data: items } = useLive(trpc.attention.list.queryOptions(), 10_000);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl space-y-5 px-4 py-8 outline-none sm:px-6">
      <PageHeader title="Needs attention">
        The provider's work on these jobs is paid for, but a later step keeps failing. Nothing is sent to a
        provider again, whatever you choose.
      </PageHeader>
      {items.length === 0 && (
        <Card>
          <EmptyState icon={CircleCheck} title="You're all caught up">
            Jobs whose paid result could not be processed or stored appear here.
          </EmptyState>
        </Card>
      )}
      {KINDS.map(({ reason, title, next }) => {
        const rows = items.filter((item) => item.reason === reason);
        if (rows.length === 0) return null;
        return (
          <Card key={reason} aria-labelledby={reason} className="overflow-hidden">
            <CardHeader
              id={reason}
              title={title}
              hint={rows.length === 1 ? "1 job" : `${rows.length} jobs`}
            />
            <p className="border-b border-line-soft px-4 py-2.5 text-sm text-muted">{next}</p>
            <ResourceTable
              label={`${title}, longest waiting first`}
              rows={rows}
              idOf={({ jobId }) => jobId}
              marks={({ jobId }) => ({ "data-job": jobId })}
              columns={COLUMNS}
              actions={({ jobId }) => <OperatorActions jobId={jobId} refresh={[trpc.attention.pathKey()]} />}
            />
          </Card>
        );
      })}
    </main>
  );
}

const COLUMNS: TableColumn<AttentionItem>[] = [
  {
    header: "Job",
    card: "title",
    cell: ({ jobId, capabilityKey }) => (
      <>
        <span className="block font-medium">{capabilityKey}</span>
        <CopyableId id={jobId} what="job id" className="text-muted" short />
      </>
    ),
  },
  {
    header: "Project",
    className: "max-w-56 truncate",
    cell: ({ projectName, organizationName }) => (
      <>
        <span className="block truncate">{projectName}</span>
        <span className="block truncate text-xs text-muted">{organizationName}</span>
      </>
    ),
  },
  {
    header: "Answer",
    card: "fact",
    className: "whitespace-nowrap",
    cell: ({ isAnswerKept }) =>
      isAnswerKept ? "Stored" : <span className="text-bad">Lost: only Fail is possible</span>,
  },
  column.quiet(
    "Provider cost",
    ({ providerCost }) => (providerCost === null ? "Unknown" : wholeDollars(providerCost)),
    "fact",
  ),
  column.quiet("Held", ({ held }) => wholeDollars(held), "fact"),
  column.ago("Since", ({ since }) => since),
];
