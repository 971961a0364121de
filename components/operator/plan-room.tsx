"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ListCard } from "@/components/blocks/list/list-card";
import { LIMIT_NAMES, LIMITS, shownLimit } from "@/components/organization/limit-words";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
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
        Each organization's plan and limits. Plans are defined in this installation's settings.
      </PageHeader>
      <ListCard noun="organizations" page={page} state={place} hrefOf={plansHref} first={null}>
        <ul aria-label="Organizations" className="divide-y divide-line">
          {page.items.map((each) => (
            <li
              key={each.organizationId}
              data-organization={each.organizationId}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3"
            >
              <div className="min-w-0 flex-1 basis-64 space-y-1 [overflow-wrap:anywhere]">
                <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
                  {each.displayName}
                  {!each.externalActions && <Badge tone="warn">external actions off</Badge>}
                </p>
                {each.displayName !== each.organizationId && (
                  <p className="text-xs text-muted">
                    <code>{each.organizationId}</code>
                  </p>
                )}
                <Limits settings={each} />
              </div>
              <Badge>{each.plan.displayName}</Badge>
              <Button onClick={() => setChosen(each)} aria-label={`Edit plan of ${each.displayName}`}>
                {" "}
                Edit plan
              </Button>
            </li>
          ))}
        </ul>
      </ListCard>
      {chosen && <PlanDialog settings={chosen} onClose={() => setChosen(null)} />}
    </main>
  );
}

/** The effective limits, with usage where it is counted. */
function Limits({ settings }: { settings: PlanSettingsView }) {
  const bounded = LIMIT_NAMES.filter((limit) => settings.limits[limit] !== null);
  if (bounded.length === 0) return <p className="text-xs text-muted">No limits</p>;
  return (
    <ul className="flex flex-wrap gap-1.5">
      {bounded.map((limit) => (
        <li key={limit}>
          <Badge tone={limit in settings.agreed.limits ? "busy" : "neutral"}>
            {LIMITS[limit]}:{" "}
            {limit in settings.used && `${settings.used[limit as keyof typeof settings.used]} of `}
            {shownLimit(settings.limits[limit])}
          </Badge>
        </li>
      ))}
    </ul>
  );
}
