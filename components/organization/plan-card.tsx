"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import type { PlanLimit } from "@/server/contract/billing";
import type { PlanSettingsView } from "@/server/contract/plan-settings";
import { FEATURE_LABELS, FEATURE_NAMES, LIMIT_LABELS, LIMIT_NAMES, shownLimit } from "./limit-words";

/** An organization's plan with its usage, and whether its executions may reach providers. */
export function PlanCards({ organizationId, isOwner }: { organizationId: string; isOwner: boolean }) {
  const { data } = useSuspenseQuery(useTRPC().organizations.plan.queryOptions({ organizationId }));
  return (
    <div className="space-y-4">
      <PlanCard settings={data} />
      <ExternalActions settings={data} isOwner={isOwner} />
    </div>
  );
}

function PlanCard({ settings }: { settings: PlanSettingsView }) {
  const off = FEATURE_NAMES.filter((feature) => !settings.features[feature]);
  return (
    <Section title={`Plan: ${settings.plan.displayName}`} hint={settings.plan.tagline} isFlush>
      <ResourceTable
        isSmall
        label="Limits of the plan"
        rows={LIMIT_NAMES}
        idOf={(limit) => limit}
        marks={(limit) => ({ "data-limit": limit })}
        columns={columnsOf(settings)}
      />
      {off.length > 0 && (
        <p className="border-t border-line px-4 py-3 text-sm">
          Not in this plan: {off.map((feature) => FEATURE_LABELS[feature].toLowerCase()).join(", ")}.
        </p>
      )}
      <p className="border-t border-line px-4 py-3 text-xs text-muted">
        An operator of this installation sets plans and limits.
      </p>
    </Section>
  );
}

function columnsOf({ used, limits }: PlanSettingsView): TableColumn<PlanLimit>[] {
  const usedOf = (limit: PlanLimit) => (limit in used ? used[limit as keyof typeof used] : null);
  const isFull = (limit: PlanLimit) => {
    const [now, most] = [usedOf(limit), limits[limit]];
    return now !== null && most !== null && now >= most;
  };
  return [
    { header: "Limit", card: "title", cell: (limit) => LIMIT_LABELS[limit] },
    {
      header: "Used",
      align: "end",
      cell: (limit) => (
        <>
          {isFull(limit) && (
            <Badge tone="warn" className="mr-2">
              At limit
            </Badge>
          )}
          {usedOf(limit)?.toLocaleString("en-US") ?? (
            <span className="whitespace-nowrap text-muted">not counted</span>
          )}
        </>
      ),
    },
    { header: "Allowed", align: "end", cell: (limit) => shownLimit(limits[limit]) },
  ];
}

function ExternalActions({ settings, isOwner }: { settings: PlanSettingsView; isOwner: boolean }) {
  const trpc = useTRPC();
  const { organizationId, externalActions } = settings;
  const change = useAction(trpc.organizations.setExternalActions.mutationOptions(), {
    done: (after) => `External actions turned ${after.externalActions ? "on" : "off"}`,
    refresh: [trpc.organizations.pathKey()],
  });
  return (
    <Section
      title="External actions"
      hint={<Badge tone={externalActions ? "good" : "warn"}>{externalActions ? "On" : "Off"}</Badge>}
      actions={
        isOwner && (
          <ConfirmAction
            label={externalActions ? "Turn off" : "Turn on"}
            isAsked={externalActions}
            title="Turn off external actions?"
            description="New executions that would reach a provider are refused. Local and sandbox executions continue, and so do executions already admitted."
            action="Turn off"
            onConfirm={() => change.mutate({ organizationId, externalActions: !externalActions })}
            size="sm"
            variant={externalActions ? "secondary" : "primary"}
            pending={change.isPending}
          />
        )
      }
    >
      <p className="text-sm">
        {externalActions
          ? "Executions may reach providers, through your accounts or the operator's."
          : "Executions that would reach a provider are refused. Local and sandbox executions continue."}
        {!isOwner && " Only owners can change this."}
      </p>
    </Section>
  );
}
