"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { Ago } from "@/components/time/moment";
import { type ProjectChoice, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable-id";
import { Dialog } from "@/components/ui/dialog";
import { useMutation } from "@/components/use-mutation";
import type { ConnectableProvider, Credential } from "@/server/contract/credentials";
import { ConnectionDetail, TestResult, useTest } from "./connection-detail";
import { RotateForm } from "./rotate-form";

/** One connected account: its environments, its status, and the actions on it. */
export function ConnectionRow({
  credential,
  project,
  provider,
  canChange,
}: {
  credential: Credential;
  project: ProjectChoice;
  /** Null when this installation no longer supports the provider. */
  provider: ConnectableProvider | null;
  canChange: boolean;
}) {
  const title = provider?.title ?? credential.provider;
  const test = useTest();
  const elsewhere = credential.bindings.filter(({ projectId }) => projectId !== project.projectId).length;
  return (
    <li className="space-y-3 px-4 py-3" data-credential={credential.credentialId}>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72 space-y-1.5">
          <div className="flex flex-wrap items-center gap-2">
            <CheckedBadge credential={credential} />
            <span className="text-sm font-medium">{title}</span>
            <span dir="auto" className="min-w-0 text-sm text-muted [overflow-wrap:anywhere]">
              {credential.label}
            </span>
            {credential.last4 && <code className="text-xs">…{credential.last4}</code>}
          </div>
          {credential.endpointUrl && (
            <p className="text-xs text-muted [overflow-wrap:anywhere]">
              {credential.endpointUrl} · {credential.models}
            </p>
          )}
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
            {credential.checkedAt && (
              <span>
                Checked <Ago at={credential.checkedAt} />
              </span>
            )}
            {credential.rotatedAt && (
              <span>
                Rotated <Ago at={credential.rotatedAt} />
              </span>
            )}
            {elsewhere > 0 && (
              <span>
                {elsewhere === 1
                  ? "Also used in 1 environment of another project"
                  : `Also used in ${elsewhere} environments of other projects`}
              </span>
            )}
            <CopyableId id={credential.credentialId} what="connection id" short />
          </div>
        </div>
        {canChange && <Actions credential={credential} provider={provider} title={title} test={test} />}
      </div>
      {test.data && <TestResult result={test.data} />}
      {canChange && (
        <ConnectionDetail connectionId={credential.credentialId} name={`${title} ${credential.label}`} />
      )}
      {provider && provider.unlocks.length > 0 && <Unlocks provider={provider} />}
      <ul aria-label={`Environments of ${title} ${credential.label}`} className="flex flex-wrap gap-2">
        {project.environments.map((environment) => (
          <li key={environment}>
            <Place
              credential={credential}
              projectId={project.projectId}
              environment={environment}
              title={title}
              canChange={canChange}
            />
          </li>
        ))}
      </ul>
    </li>
  );
}

/** The capabilities an account unlocks, folded because every account of a provider repeats the list. */
function Unlocks({ provider: { title, unlocks } }: { provider: ConnectableProvider }) {
  return (
    <details className="text-xs">
      <summary className="w-fit cursor-pointer text-muted">
        {unlocks.length === 1 ? "Unlocks 1 capability" : `Unlocks ${unlocks.length} capabilities`}
      </summary>
      <ul aria-label={`Capabilities unlocked by ${title}`} className="mt-2 flex flex-wrap gap-1.5">
        {unlocks.map(({ key, title }) => (
          <li key={key} className="max-w-full">
            <Badge title={key}>
              <span className="truncate">{title}</span>
            </Badge>
          </li>
        ))}
      </ul>
    </details>
  );
}

function CheckedBadge({ credential: { status } }: { credential: Credential }) {
  return status === "ready" ? (
    <Badge tone="good">
      <CircleCheck aria-hidden />
      Ready
    </Badge>
  ) : (
    <Badge tone="bad">
      <TriangleAlert aria-hidden />
      Refused
    </Badge>
  );
}

const pathOf = ({ organizationId, credentialId }: Credential) => ({
  organization_id: organizationId,
  credential_id: credentialId,
});

/** Every change can affect the whole page, so everything is refreshed. */
function useAnew() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return { onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.connections.pathKey() }) };
}

function Place({
  credential,
  projectId,
  environment,
  title,
  canChange,
}: {
  credential: Credential;
  projectId: string;
  environment: string;
  title: string;
  canChange: boolean;
}) {
  const trpc = useTRPC();
  const anew = useAnew();
  const bind = useMutation(trpc.connections.bind.mutationOptions(anew));
  const unbind = useMutation(trpc.connections.unbind.mutationOptions(anew));
  const binding = credential.bindings.find(
    (each) => each.projectId === projectId && each.environment === environment,
  );
  const path = pathOf(credential);
  if (!canChange) return binding ? <Badge tone="good">{environment}</Badge> : null;
  if (!binding)
    return (
      <Button
        size="sm"
        variant="ghost"
        pending={bind.isPending}
        aria-label={`Use ${title} ${credential.label} in ${environment}`}
        onClick={() => bind.mutate({ ...path, projectId, environment, provider: credential.provider })}
      >
        Use in {environment}
      </Button>
    );
  return (
    <span className="inline-flex items-center gap-1">
      <Badge tone="good">{environment}</Badge>
      <Confirm
        title={`Disconnect from ${environment}?`}
        description={`Jobs in ${environment} can no longer run on this account. Queued jobs that would use it fail without being sent.`}
        action="Disconnect"
        onConfirm={() => unbind.mutate({ ...path, binding_id: binding.bindingId })}
      >
        <Button
          size="sm"
          variant="ghost"
          pending={unbind.isPending}
          aria-label={`Disconnect ${title} ${credential.label} from ${environment}`}
        >
          Disconnect
        </Button>
      </Confirm>
    </span>
  );
}

function Actions({
  credential,
  provider,
  title,
  test,
}: {
  credential: Credential;
  test: ReturnType<typeof useTest>;
  provider: ConnectableProvider | null;
  title: string;
}) {
  const trpc = useTRPC();
  const anew = useAnew();
  const [isRotating, setRotating] = useState(false);
  const remove = useMutation(
    trpc.connections.remove.mutationOptions({
      ...anew,
      onSuccess: () => toast.success("Connection deleted"),
    }),
  );
  const name = `${title} ${credential.label}`;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {provider && (
        <>
          <Button
            size="sm"
            pending={test.isPending}
            aria-label={`Test ${name}`}
            onClick={() => test.mutate({ connection_id: credential.credentialId })}
          >
            Test
          </Button>
          <Button size="sm" aria-label={`Rotate ${name}`} onClick={() => setRotating(true)}>
            Rotate
          </Button>
          <Dialog open={isRotating} onOpenChange={setRotating}>
            {isRotating && (
              <RotateForm credential={credential} provider={provider} onDone={() => setRotating(false)} />
            )}
          </Dialog>
        </>
      )}
      <Confirm
        title={`Delete ${name}?`}
        description="Its secret is deleted, and every environment that uses it is disconnected. Queued jobs that would use it fail without being sent."
        action="Delete connection"
        onConfirm={() => remove.mutate(pathOf(credential))}
      >
        <Button size="sm" pending={remove.isPending} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      </Confirm>
    </div>
  );
}
