"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { Section } from "@/components/ui/card";
import { CheckList } from "@/components/ui/check-list";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { PlannedAccounts } from "./planned-accounts";

type Props = {
  project: ProjectChoice;
  providers: ConnectableProvider[];
  environment: string;
  canChange: boolean;
  onConnect: (provider: string) => void;
};

/** Finds the accounts that the chosen capabilities need, and opens their forms. */
export function Onboarding({ project, providers, environment, canChange, onConnect }: Props) {
  const trpc = useTRPC();
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
  return (
    <Section
      title="Connect by capability"
      hint={`For ${environment} in ${project.displayName}`}
      bodyClassName="space-y-4"
    >
      <details>
        <summary className="text-sm text-muted">
          Choose capabilities to see the fewest accounts that unlock them all.
        </summary>
        <CheckList
          name="capabilities"
          names={capabilities.map(({ key }) => key)}
          words={Object.fromEntries(capabilities.map(({ key, title }) => [key, title]))}
          chosen={chosen}
          onChange={setChosen}
        />
      </details>
      <Refusal error={plan.error} />
      {chosen.size > 0 && plan.data && (
        <div className="border-t border-line pt-4">
          <PlannedAccounts plan={plan.data} canChange={canChange} onConnect={onConnect} />
        </div>
      )}
    </Section>
  );
}

/** Every capability that an account could unlock, sorted by title. */
function capabilitiesOf(providers: ConnectableProvider[]) {
  const all = new Map(providers.flatMap(({ unlocks }) => unlocks.map((each) => [each.key, each] as const)));
  return [...all.values()].sort((one, other) => one.title.localeCompare(other.title));
}
