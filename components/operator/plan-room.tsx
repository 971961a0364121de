"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { LIMIT_NAMES, SHORT, shownLimit } from "@/components/organization/limit-words";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import type { PlanLimit } from "@/server/contract/billing";
import type { PlanSettingsView } from "@/server/contract/plan-settings";
import { type PlansPlace, plansHref, toPlansQuery } from "./list-state";
import { PlanDialog } from "./plan-form";

/** For operators: every organization with its plan and custom limits. */
export function PlanRoom({ place }: { place: PlansPlace }) {
  const trpc = useTRPC();
  const { data: page } = useSuspenseQuery(trpc.operator.plans.queryOptions(toPlansQuery(place)));
  const [chosen, setChosen] = useState<PlanSettingsView | null>(null);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-8 outline-none sm:px-6">
      <PageHeader title="Plans">
        Each organization's plan, with its usage and limits; custom limits are bold. Plans are defined in this
        installation's settings.
      </PageHeader>
      <ListCard noun="organizations" page={page} state={place} hrefOf={plansHref} first={null}>
        <ResourceTable
          label="Organizations"
          rows={page.items}
          idOf={({ organizationId }) => organizationId}
          marks={({ organizationId }) => ({ "data-organization": organizationId })}
          columns={COLUMNS}
          actions={(each) => (
            <Button size="sm" onClick={() => setChosen(each)} aria-label={`Edit plan of ${each.displayName}`}>
              Edit plan
            </Button>
          )}
        />
      </ListCard>
      {chosen && <PlanDialog settings={chosen} onClose={() => setChosen(null)} />}
    </main>
  );
}

const COLUMNS: Column<PlanSettingsView>[] = [
  {
    header: "Organization",
    card: "title",
    className: "max-w-64 font-medium",
    cell: ({ displayName, organizationId, externalActions }) => (
      <>
        <span dir="auto" title={organizationId} className="block truncate">
          {displayName}
        </span>
        {!externalActions && <Badge tone="warn">External actions off</Badge>}
      </>
    ),
  },
  { header: "Plan", card: "status", cell: ({ plan }) => <Badge>{plan.displayName}</Badge> },
  ...LIMIT_NAMES.map(
    (limit): Column<PlanSettingsView> => ({
      header: SHORT[limit],
      align: "end",
      card: "fact",
      className: "whitespace-nowrap",
      cell: (settings) => <Limit {...{ limit, settings }} />,
    }),
  ),
];

/** A limit with its usage, where that is counted. */
function Limit({
  limit,
  settings: { used, limits, agreed },
}: {
  limit: PlanLimit;
  settings: PlanSettingsView;
}) {
  const count = Object.entries(used).find(([name]) => name === limit)?.[1];
  const most = limits[limit];
  const words = [count?.toLocaleString("en-US"), most === null ? null : shownLimit(most)];
  return (
    <span className={limit in agreed.limits ? "font-semibold" : "text-muted"}>
      {words.filter((word) => word != null).join(" of ") || "–"}
    </span>
  );
}
