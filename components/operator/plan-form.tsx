"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { Sent } from "@/components/blocks/form/sent";
import {
  FEATURE_NAMES,
  FEATURES,
  LIMIT_NAMES,
  LIMITS,
  shownLimit,
} from "@/components/organization/limit-words";
import { useTRPC } from "@/components/trpc";
import type { PlanSettingsView } from "@/server/contract/plan-settings";

/** Sets an organization's plan and the limits that differ from it. */
export function PlanDialog({ settings, onClose }: { settings: PlanSettingsView; onClose(): void }) {
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
  function send(sent: Sent) {
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
              label={LIMITS[name]}
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
            label={FEATURES[name]}
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
