"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type ProjectChoice, sentencesOf, useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { PlannedAccounts } from "./planned-accounts";

/** Finds the accounts that the chosen capabilities need, and opens their forms. */
export function Onboarding({
  project,
  providers,
  environment,
  canChange,
  onConnect,
}: {
  project: ProjectChoice;
  providers: ConnectableProvider[];
  environment: string;
  canChange: boolean;
  onConnect: (provider: string) => void;
}) {
  const trpc = useTRPC();
  const titleId = useId();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set());
  const capabilities = capabilitiesOf(providers);
  const plan = useQuery({
    ...trpc.connections.plan.queryOptions({
      capabilities: [...chosen],
      projectId: project.projectId,
      environment,
    }),
    enabled: chosen.size > 0,
    placeholderData: keepPreviousData,
  });
  function choose(key: string, isChosen: boolean) {
    const after = new Set(chosen);
    if (isChosen) after.add(key);
    else after.delete(key);
    setChosen(after);
  }
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader
        id={titleId}
        title="Connect by capability"
        hint={`For ${environment} in ${project.displayName}`}
      />
      <CardBody className="space-y-4">
        <fieldset>
          <legend className="text-sm text-muted">
            Choose capabilities to see the fewest accounts that unlock them all.
          </legend>
          <div className="mt-3 grid gap-x-4 gap-y-2.5 sm:grid-cols-2 lg:grid-cols-3">
            {capabilities.map(({ key, title }) => (
              <div key={key} className="flex items-start gap-2">
                <Checkbox
                  id={`${titleId}-${key}`}
                  className="mt-0.5"
                  checked={chosen.has(key)}
                  onCheckedChange={(checked) => choose(key, checked === true)}
                />
                <Label htmlFor={`${titleId}-${key}`} className="font-normal" title={key}>
                  {title}
                </Label>
              </div>
            ))}
          </div>
        </fieldset>
        {plan.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(plan.error)}
          </Notice>
        )}
        {chosen.size > 0 && plan.data && (
          <div className="border-t border-line pt-4">
            <PlannedAccounts plan={plan.data} canChange={canChange} onConnect={onConnect} />
          </div>
        )}
      </CardBody>
    </Card>
  );
}

/** Every capability that an account could unlock, sorted by title. */
function capabilitiesOf(providers: ConnectableProvider[]) {
  const all = new Map(providers.flatMap(({ unlocks }) => unlocks.map((each) => [each.key, each] as const)));
  return [...all.values()].sort((one, other) => one.title.localeCompare(other.title));
}
