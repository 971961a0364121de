"use client";
import { Columns2 } from "lucide-react";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { column } from "@/components/blocks/list/columns";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn } from "@/components/blocks/list/resource-table";
import { WorkCell } from "@/components/blocks/work/work";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { ComparisonLine } from "@/server/contract/comparisons";
import type { OfWork } from "@/server/contract/work";
import {
  type ComparisonListState,
  comparisonHref,
  comparisonsHref,
  hasFilter,
  newComparisonHref,
  toComparisonsQuery,
} from "./list-state";
import { COMPARISON_STATUS_OPTIONS, ComparisonStatusBadge, DecisionBadge, INTENT_WORDS } from "./words";

/** The comparisons of a project, newest first. The competitors are not shown. */
export function ComparisonHistory({
  projectId,
  state,
  capabilities,
}: {
  projectId: string;
  state: ComparisonListState;
  /** Keys to filter by. */
  capabilities: string[];
}) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.comparisons.list.queryOptions(toComparisonsQuery(projectId, state)),
    soonWhile(({ items }) => items.some(({ status }) => status === "running")),
  );
  const mayWrite = useProject(projectId).may("member");
  const isEmpty = data.items.length === 0 && !state.cursor;
  const begin = mayWrite && (
    <Button asChild variant="primary">
      <Link href={newComparisonHref(projectId)}>
        <Columns2 aria-hidden />
        New comparison
      </Link>
    </Button>
  );
  const isFirst = isEmpty && !hasFilter(state);
  const hrefOf = (next: ComparisonListState) => comparisonsHref(projectId, next);
  return (
    <>
      <PageHeader title="Comparisons" actions={!isFirst && begin}>
        Send one request to several models or settings and judge the results blind.
      </PageHeader>

      <ListTable
        filters={
          !isFirst && [
            { name: "status", label: "Status", any: "Any status", options: COMPARISON_STATUS_OPTIONS },
            { name: "judged", label: "Decision", any: "Any decision", options: DECISIONS },
            {
              name: "capability",
              label: "Capability",
              any: "Any capability",
              options: toOptions(capabilities),
            },
          ]
        }
        noun="comparisons"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={hasFilter(state)}
        first={
          <EmptyState icon={Columns2} title="No comparisons yet" action={begin}>
            Send one request to two to four competitors and judge the results side by side. Models, costs and
            durations are revealed after you judge.
          </EmptyState>
        }
        label="Comparisons, newest first"
        idOf={({ comparisonId }) => comparisonId}
        columns={columnsOf(projectId)}
      />
    </>
  );
}

const DECISIONS = [
  { value: "no", label: "Not judged" },
  { value: "yes", label: "Judged" },
];

const columnsOf = (projectId: string): TableColumn<OfWork<ComparisonLine>>[] => [
  column.title("Comparison", ({ work, capabilityKey, comparisonId: id }) => (
    <WorkCell work={work} otherwise={capabilityKey}>
      <RowLink href={comparisonHref(projectId, id)} id={id} />
    </WorkCell>
  )),
  column.status(({ status }) => <ComparisonStatusBadge status={status} />),
  {
    header: "Intent",
    card: "hidden",
    className: "text-muted",
    cell: ({ intent }) => INTENT_WORDS[intent].name,
  },
  { header: "Decision", cell: (line) => <DecisionBadge line={line} /> },
  column.quiet("Entries", ({ entryCount }) => entryCount, "fact"),
  column.ago("Created", ({ createdAt }) => createdAt),
];
