"use client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { redirect } from "next/navigation";
import { useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { PageHeader } from "@/components/shell/page-header";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Notice } from "@/components/ui/notice";
import { ConnectDialog } from "./connect-form";
import { ConnectionRow } from "./connection-row";
import { Onboarding } from "./onboarding";
import { OnboardingSession } from "./onboarding-session";
import { nextOf } from "./planned-accounts";
import { ProviderList } from "./provider-list";

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
