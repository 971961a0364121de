"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import {
  FEATURE_NAMES,
  FEATURES,
  LIMIT_NAMES,
  LIMITS,
  shownLimit,
} from "@/components/organization/limit-words";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Choice } from "@/components/ui/choice";
import { SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { PlanSettingsView } from "@/server/contract/plan-settings";

type Feature = "plan" | "on" | "off";

/** Sets an organization's plan and the limits that differ from it. */
export function PlanForm({ settings, onDone }: { settings: PlanSettingsView; onDone(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { data: plans } = useSuspenseQuery(trpc.operator.offered.queryOptions());
  const { agreed } = settings;
  const [slug, setSlug] = useState(settings.plan.slug);
  const [features, setFeatures] = useState(
    () =>
      Object.fromEntries(
        FEATURE_NAMES.map((name) => [
          name,
          agreed.features[name] === undefined ? "plan" : agreed.features[name] ? "on" : "off",
        ]),
      ) as Record<(typeof FEATURE_NAMES)[number], Feature>, // made of every feature's name
  );
  const plan = plans.find((each) => each.slug === slug) ?? settings.plan;
  const change = useMutation(
    trpc.operator.changePlan.mutationOptions({
      onSuccess: (after) => {
        toast.success(`${after.displayName} is now on the ${after.plan.displayName} plan`);
        onDone();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.operator.plans.queryKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const limits = LIMIT_NAMES.flatMap((name) => {
      const text = String(fields.get(name) ?? "").trim();
      return text === "" ? [] : [[name, text.toLowerCase() === "none" ? null : Number(text)] as const];
    });
    const chosen = FEATURE_NAMES.flatMap((name) =>
      features[name] === "plan" ? [] : [[name, features[name] === "on"] as const],
    );
    change.mutate({
      organizationId: settings.organizationId,
      plan: slug,
      limits: Object.fromEntries(limits),
      features: Object.fromEntries(chosen),
    });
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      {change.error && (
        <Notice tone="bad" role="alert">
          {sentencesOf(change.error)}
        </Notice>
      )}
      <Choice
        label="Plan"
        value={slug}
        options={plans.map((each) => [each.slug, each.displayName])}
        onChange={setSlug}
      />
      <fieldset className="space-y-3">
        <legend className="text-sm font-medium">Custom limits</legend>
        <p className="text-xs text-muted">Leave empty to use the plan's limit. Enter “none” for no limit.</p>
        <div className="grid gap-3 sm:grid-cols-2">
          {LIMIT_NAMES.map((name) => {
            const own = agreed.limits[name];
            return (
              <div key={name} className="space-y-1.5">
                <Label htmlFor={`limit-${name}`}>{LIMITS[name]}</Label>
                <Input
                  id={`limit-${name}`}
                  name={name}
                  pattern="[0-9]{1,9}|[Nn]one"
                  title="A whole number, or none"
                  placeholder={shownLimit(plan.limits[name])}
                  defaultValue={own === undefined ? "" : (own ?? "none")}
                  autoComplete="off"
                />
              </div>
            );
          })}
        </div>
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-3">
        {FEATURE_NAMES.map((name) => (
          <Choice
            key={name}
            label={FEATURES[name]}
            value={features[name]}
            options={[
              ["plan", `Plan default (${plan.features[name] ? "on" : "off"})`],
              ["on", "On"],
              ["off", "Off"],
            ]}
            onChange={(next) =>
              setFeatures({ ...features, [name]: next === "on" || next === "off" ? next : "plan" })
            }
          />
        ))}
      </div>
      <SubmitActions pending={change.isPending}>Save</SubmitActions>
    </form>
  );
}
