"use client";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, Plug } from "lucide-react";
import { useId, useState } from "react";
import { type ProjectChoice, sentencesOf, useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import type { OnboardingPlan } from "@/server/contract/connections";
import type { ConnectableProvider } from "@/server/contract/credentials";

/** From the capabilities somebody wants to the accounts these need, and to their forms. */
export function Onboarding({
  project,
  providers,
  environment,
  wanted,
  canChange,
  onConnect,
}: {
  project: ProjectChoice;
  providers: ConnectableProvider[];
  environment: string;
  /** What a session asked for. */
  wanted: string[];
  canChange: boolean;
  onConnect: (provider: string) => void;
}) {
  const trpc = useTRPC();
  const titleId = useId();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(wanted));
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
    <Card aria-labelledby={titleId} className="my-8">
      <CardHeader
        id={titleId}
        title="Start from what you want to run"
        hint={`In ${environment} of ${project.displayName}`}
      />
      <CardBody className="space-y-4">
        <fieldset>
          <legend className="text-sm text-muted">
            Choose capabilities, and see the fewest accounts that unlock all of them.
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
          <Plan plan={plan.data} canChange={canChange} onConnect={onConnect} />
        )}
      </CardBody>
    </Card>
  );
}

/** Every capability that an account could serve, by its title. */
function capabilitiesOf(providers: ConnectableProvider[]) {
  const all = new Map(providers.flatMap(({ unlocks }) => unlocks.map((each) => [each.key, each] as const)));
  return [...all.values()].sort((one, other) => one.title.localeCompare(other.title));
}

function Plan({
  plan,
  canChange,
  onConnect,
}: {
  plan: OnboardingPlan;
  canChange: boolean;
  onConnect: (provider: string) => void;
}) {
  const titles = new Map(plan.capabilities.map(({ key, title }) => [key, title]));
  const unserved = plan.unserved.map((key) => titles.get(key) ?? key);
  return (
    <div className="space-y-3 border-t border-line pt-4">
      <div role="status">
        {plan.status === "ready" ? (
          <Notice tone="good" title="Ready">
            {plan.explanation}
          </Notice>
        ) : (
          <p className="text-sm text-muted">{plan.explanation}</p>
        )}
      </div>
      <ul aria-label="Accounts this needs" className="divide-y divide-line">
        {plan.accounts.map((account) => (
          <li
            key={account.provider}
            className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0"
            data-account={account.provider}
          >
            <div className="min-w-0 flex-1 basis-64 space-y-1.5">
              <div className="flex flex-wrap items-center gap-2">
                <span className="text-sm font-medium">{account.title}</span>
                {account.state === "connected" && (
                  <Badge tone="good">
                    <CircleCheck aria-hidden />
                    Connected
                  </Badge>
                )}
                {account.state === "bind" && <Badge tone="busy">Connected elsewhere</Badge>}
              </div>
              <p className="text-xs text-muted">
                {account.unlocks.map((key) => titles.get(key) ?? key).join(", ")}
              </p>
            </div>
            {canChange && account.state === "connect" && (
              <Button
                size="sm"
                variant="primary"
                aria-label={`Connect ${account.title} for this`}
                onClick={() => onConnect(account.provider)}
              >
                <Plug aria-hidden />
                Connect
              </Button>
            )}
            {canChange && account.state === "bind" && account.connectionId && (
              <UseHere plan={plan} connectionId={account.connectionId} provider={account.provider} />
            )}
          </li>
        ))}
      </ul>
      {unserved.length > 0 && (
        <Notice tone="warn" title="Stays unserved">
          {unserved.join(", ")}: no account that can be connected here serves this.
        </Notice>
      )}
      {!canChange && plan.status === "interaction_required" && (
        <p className="text-sm text-muted">Admins of your organization can connect accounts.</p>
      )}
    </div>
  );
}

function UseHere({
  plan,
  connectionId,
  provider,
}: {
  plan: OnboardingPlan;
  connectionId: string;
  provider: string;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const bind = useMutation(
    trpc.connections.bind.mutationOptions({
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.connections.pathKey() }),
    }),
  );
  return (
    <Button
      size="sm"
      variant="primary"
      pending={bind.isPending}
      onClick={() =>
        bind.mutate({
          organization_id: plan.organizationId,
          credential_id: connectionId,
          projectId: plan.projectId ?? "",
          environment: plan.environment,
          provider,
        })
      }
    >
      Use in {plan.environment}
    </Button>
  );
}
