"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { FormValues } from "@/components/blocks/form/form-values";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import {
  FEATURE_LABELS,
  FEATURE_NAMES,
  LIMIT_LABELS,
  LIMIT_NAMES,
  SHORT_LIMIT_LABELS,
  shownLimit,
} from "@/components/organization/limit-words";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import type { PlanLimit } from "@/server/contract/billing";
import type { PlanSettingsView } from "@/server/contract/plan-settings";
import { type PlansPlace, plansHref, toPlansQuery } from "./list-state";

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

const COLUMNS: TableColumn<PlanSettingsView>[] = [
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
    (limit): TableColumn<PlanSettingsView> => ({
      header: SHORT_LIMIT_LABELS[limit],
      align: "end",
      card: "fact",
      className: "whitespace-nowrap",
      cell: (settings) => <Limit {...{ limit, settings }} />,
    }),
  ),
];

/** A limit with its usage, if usage is counted. */
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

/** Sets an organization's plan and the limits that differ from it. */
function PlanDialog({ settings, onClose }: { settings: PlanSettingsView; onClose(): void }) {
  const trpc = useTRPC();
  const { data: plans } = useSuspenseQuery(trpc.operator.offered.queryOptions());
  const { agreed } = settings;
  const [slug, setSlug] = useState(settings.plan.slug);
  const plan = plans.find((each) => each.slug === slug) ?? settings.plan;
  const change = useAction(trpc.operator.changePlan.mutationOptions(), {
    done: (after) => `${after.displayName} is now on the ${after.plan.displayName} plan`,
    refresh: [trpc.operator.plans.queryKey()],
    isInPlace: true,
  });
  function send(sent: FormValues) {
    const limits = LIMIT_NAMES.flatMap((name) => {
      const text = sent.text(name).toLowerCase();
      return text === "" ? [] : [[name, text === "none" ? null : Number(text)] as const];
    });
    const chosen = FEATURE_NAMES.flatMap((name) =>
      sent.text(name) === "plan" ? [] : [[name, sent.text(name) === "on"] as const],
    );
    change.mutate({
      organizationId: settings.organizationId,
      plan: slug,
      limits: Object.fromEntries(limits),
      features: Object.fromEntries(chosen),
    });
  }
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={`Plan of ${settings.displayName}`}
      isWide
      action={change}
      send={send}
      submit="Save"
    >
      <ChoiceField
        name="plan"
        label="Plan"
        value={slug}
        options={plans.map(({ slug, displayName }) => ({ value: slug, label: displayName }))}
        onValueChange={setSlug}
      />
      <fieldset className="space-y-3">
        <legend className="text-sm font-medium">Custom limits</legend>
        <p className="text-xs text-muted">Leave empty to use the plan's limit. Enter “none” for no limit.</p>
        <div className="grid gap-3 sm:grid-cols-2">
          {LIMIT_NAMES.map((name) => (
            <TextField
              key={name}
              name={name}
              label={LIMIT_LABELS[name]}
              pattern="[0-9]{1,9}|[Nn]one"
              title="A whole number, or none"
              placeholder={shownLimit(plan.limits[name])}
              defaultValue={agreed.limits[name] === undefined ? "" : (agreed.limits[name] ?? "none")}
            />
          ))}
        </div>
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-3">
        {FEATURE_NAMES.map((name) => (
          <ChoiceField
            key={name}
            name={name}
            label={FEATURE_LABELS[name]}
            defaultValue={agreed.features[name] === undefined ? "plan" : agreed.features[name] ? "on" : "off"}
            options={[
              { value: "plan", label: `Plan default (${plan.features[name] ? "on" : "off"})` },
              { value: "on", label: "On" },
              { value: "off", label: "Off" },
            ]}
          />
        ))}
      </div>
    </FormDialog>
  );
}
