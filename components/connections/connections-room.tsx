"use client";
import { keepPreviousData, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { CircleCheck, Plug } from "lucide-react";
import { redirect } from "next/navigation";
import { useId, useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { PageHeader } from "@/components/shell/page-header";
import { type ProjectChoice, sentencesOf, useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CheckList } from "@/components/ui/check-list";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { OnboardingSession as Session } from "@/server/contract/connections";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { ConnectDialog } from "./connect-form";
import { ConnectionRow } from "./connection-row";
import { nextOf, PlannedAccounts } from "./planned-accounts";

/** What the link opens: the form of a provider for an environment, or the next step of an onboarding session. */
type Asked = { provider: string | null; environment: string | null; onboarding: string | null };

/** The provider accounts of a project, and the providers it can connect. */
export function ConnectionsRoom({ projectId, asked }: { projectId: string; asked: Asked }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.connections.list.queryOptions({ project_id: projectId }));
  const { data: providers } = useSuspenseQuery(trpc.connections.providers.queryOptions());
  const { project, whyNot } = useProject(projectId);
  const known = (name: string | null) => providers.find((provider) => provider.name === name) ?? null;
  const [openFor, setOpenFor] = useState<string | null>();
  const session = useQuery({
    ...trpc.connections.session.queryOptions({ session_id: asked.onboarding ?? "" }),
    enabled: asked.onboarding !== null,
    meta: { isShownInPlace: true },
  });
  if (!project) return null;
  const plan = session.data?.plan;
  if (plan?.projectId && plan.projectId !== projectId)
    redirect(`/projects/${plan.projectId}/connections?onboarding=${asked.onboarding}`);
  const next = plan && nextOf(plan);
  // The form named by the link is open until the reader opens or closes a form.
  const linked = asked.provider ?? (next?.state === "connect" ? next.provider : null);
  const provider = known(openFor === undefined ? linked : openFor);
  const named = plan?.environment ?? asked.environment;
  const environment = named && project.environments.includes(named) ? named : project.environments[0];
  const onboarding = environment && (asked.onboarding === null || session.error) && (
    <Onboarding
      project={project}
      providers={providers}
      environment={environment}
      canChange={data.canChange}
      onConnect={setOpenFor}
    />
  );

  return (
    <>
      <PageHeader title="Connections">
        Your own provider accounts. Jobs in this project run on them at list price, and you pay the provider.
      </PageHeader>
      {data.canChange && provider && (
        <ConnectDialog
          key={provider.name}
          project={project}
          provider={provider}
          environment={environment ?? null}
          onClose={() => setOpenFor(null)}
        />
      )}
      <div className="space-y-8">
        {session.error && <Notice tone="warn">{sentencesOf(session.error)}</Notice>}
        {session.data && (
          <OnboardingSession
            session={session.data}
            project={project}
            canChange={data.canChange}
            onConnect={setOpenFor}
          />
        )}
        {data.items.length === 0 && onboarding}
        <Card className="overflow-hidden">
          {data.items.length === 0 ? (
            <EmptyState icon={Plug} title="No connections yet">
              {data.canChange
                ? "Choose a provider below. Its key is checked, stored encrypted and never shown again."
                : whyNot("admin", "connect accounts")}
            </EmptyState>
          ) : (
            <ul aria-label="Connections, newest first" className="divide-y divide-line">
              {data.items.map((credential) => (
                <ConnectionRow
                  key={credential.credentialId}
                  credential={credential}
                  project={project}
                  provider={known(credential.provider)}
                  canChange={data.canChange}
                />
              ))}
            </ul>
          )}
        </Card>
        {data.items.length > 0 && onboarding}
        <ProviderList
          providers={providers}
          connected={
            new Set(
              data.items
                .filter(({ bindings }) => bindings.some((binding) => binding.projectId === projectId))
                .map((each) => each.provider),
            )
          }
          onConnect={data.canChange ? setOpenFor : null}
        />
      </div>
    </>
  );
}

/** Finds the accounts that the chosen capabilities need, and opens their forms. */
function Onboarding({
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
          <CheckList
            name="capabilities"
            names={capabilities.map(({ key }) => key)}
            words={Object.fromEntries(capabilities.map(({ key, title }) => [key, title]))}
            chosen={chosen}
            onChange={setChosen}
          />
        </fieldset>
        <Refusal error={plan.error} />
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

/** The accounts that someone, often an agent, asked the reader to connect, and the next step. */
function OnboardingSession({
  session: { plan },
  project,
  canChange,
  onConnect,
}: {
  session: Session;
  project: ProjectChoice;
  canChange: boolean;
  onConnect: (provider: string) => void;
}) {
  const titleId = useId();
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader
        id={titleId}
        title="Requested connections"
        hint={`For ${plan.environment} in ${project.displayName}`}
      />
      <CardBody className="space-y-4">
        <ul aria-label="Requested capabilities" className="flex flex-wrap gap-1.5">
          {plan.capabilities.map(({ key, title, ready }) => (
            <li key={key} className="max-w-full">
              <Badge title={key} tone={ready ? "good" : "neutral"}>
                <span className="truncate">{title}</span>
                {ready && <span className="sr-only">, ready</span>}
              </Badge>
            </li>
          ))}
        </ul>
        <PlannedAccounts plan={plan} canChange={canChange} onConnect={onConnect} />
        <p className="text-sm text-muted">
          {plan.status === "ready" && "You're done here. The agent or person who sent you can continue. "}
          <Link
            href={`/projects/${project.projectId}/connections`}
            className="text-link underline underline-offset-2"
          >
            Choose capabilities
          </Link>
        </p>
      </CardBody>
    </Card>
  );
}

/** The providers that can be connected, with the capabilities each unlocks. */
function ProviderList({
  providers,
  connected,
  onConnect,
}: {
  providers: ConnectableProvider[];
  connected: ReadonlySet<string>;
  /** Null when the reader may not connect accounts. */
  onConnect: ((provider: string) => void) | null;
}) {
  return (
    <section aria-labelledby="providers">
      <h2 id="providers" className="mb-3 text-lg font-semibold">
        Providers
      </h2>
      <ul className="grid gap-3 sm:grid-cols-2">
        {providers.map(({ name, title, unlocks }) => (
          <li key={name} data-provider={name}>
            <Card className="flex h-full flex-col gap-3 p-4">
              <div className="flex items-start justify-between gap-3">
                <div className="flex min-w-0 flex-wrap items-center gap-2">
                  <h3 className="text-base font-semibold">{title}</h3>
                  {connected.has(name) && (
                    <Badge tone="good">
                      <CircleCheck aria-hidden />
                      Connected
                    </Badge>
                  )}
                </div>
                {onConnect && (
                  <Button size="sm" aria-label={`Connect ${title}`} onClick={() => onConnect(name)}>
                    Connect
                  </Button>
                )}
              </div>
              {unlocks.length === 0 ? (
                <p className="text-sm text-muted">No capabilities in this installation yet.</p>
              ) : (
                <ul aria-label={`Capabilities of ${title}`} className="flex flex-wrap gap-1.5">
                  {unlocks.map((capability) => (
                    <li key={capability.key} className="max-w-full">
                      <Badge title={capability.key}>
                        <span className="truncate">{capability.title}</span>
                      </Badge>
                    </li>
                  ))}
                </ul>
              )}
            </Card>
          </li>
        ))}
      </ul>
    </section>
  );
}
