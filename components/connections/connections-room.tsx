"use client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { CircleCheck, Plug } from "lucide-react";
import { redirect } from "next/navigation";
import { useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { ResourceTable } from "@/components/blocks/list/resource-table";
import { type ProjectChoice, sentencesOf, useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { OnboardingSession as Session } from "@/server/contract/connections";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { ConnectDialog } from "./connect-form";
import { ConnectionRow } from "./connection-row";
import { Onboarding } from "./onboarding";
import { nextOf, PlannedAccounts } from "./planned-accounts";

/** The part that the link opens: the form of a provider for an environment, or the next step of an onboarding session. */
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
      <div className="space-y-4">
        {session.error && <Notice tone="warn">{sentencesOf(session.error)}</Notice>}
        {session.data && (
          <OnboardingSession
            session={session.data}
            project={project}
            canChange={data.canChange}
            onConnect={setOpenFor}
          />
        )}
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
        {onboarding}
      </div>
    </>
  );
}

type Props = {
  session: Session;
  project: ProjectChoice;
  canChange: boolean;
  onConnect: (provider: string) => void;
};

/** The accounts that someone, often an agent, asked the reader to connect, and the next step. */
function OnboardingSession({ session: { plan }, project, canChange, onConnect }: Props) {
  return (
    <Section
      title="Requested connections"
      hint={`For ${plan.environment} in ${project.displayName}`}
      bodyClassName="space-y-4"
    >
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
    </Section>
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
    <Section id="providers" title="Providers" hint="What an account at each of them can run" isFlush>
      <ResourceTable
        label="Providers"
        rows={providers}
        idOf={({ name }) => name}
        marks={({ name }) => ({ "data-provider": name })}
        columns={[
          {
            header: "Provider",
            card: "title",
            className: "font-medium whitespace-nowrap",
            cell: ({ title }) => title,
          },
          {
            header: "Capabilities",
            className: "w-full text-xs text-muted",
            cell: ({ unlocks }) =>
              unlocks.map(({ title }) => title).join(", ") || "No capabilities in this installation yet.",
          },
          {
            header: "Account",
            align: "end",
            card: "status",
            cell: ({ name, title }) => (
              <span className="flex items-center justify-end gap-2">
                {connected.has(name) && (
                  <Badge tone="good">
                    <CircleCheck aria-hidden />
                    Connected
                  </Badge>
                )}
                {onConnect && (
                  <Button size="sm" aria-label={`Connect ${title}`} onClick={() => onConnect(name)}>
                    Connect
                  </Button>
                )}
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}
