"use client";
import { CircleCheck, CircleDashed, TriangleAlert } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { type Look, LookBadge } from "@/components/blocks/status/status";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable-id";
import type {
  ConnectableProvider,
  ConnectionState,
  Credential,
  ProjectConnection,
} from "@/server/contract/credentials";
import { ConnectionDetail, TestResult, useTest } from "./connection-detail";
import { readSecretFields, SecretFields } from "./secret-fields";

type Props = {
  credential: ProjectConnection;
  project: ProjectChoice;
  /** Null when this installation no longer supports the provider. */
  provider: ConnectableProvider | null;
  canChange: boolean;
};

/** One connected account: its environments, its status, and the actions on it. */
export function ConnectionRow({ credential, project, provider, canChange }: Props) {
  const title = provider?.title ?? credential.provider;
  const test = useTest();
  const elsewhere = credential.bindings.filter(({ projectId }) => projectId !== project.projectId).length;
  return (
    <li className="space-y-3 px-4 py-3" data-credential={credential.credentialId}>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72 space-y-1.5">
          <div className="flex flex-wrap items-center gap-2">
            <LookBadge look={STATES[credential.state]} />
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
          <RequestRules rules={credential.requestRules} />
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

/** Lists the models whose requests are sent with other fields because their server refused the usual ones. */
function RequestRules({ rules }: { rules: Credential["requestRules"] }) {
  if (rules.length === 0) return null;
  return (
    <ul aria-label="Learned from the server" className="text-xs text-muted [overflow-wrap:anywhere]">
      {rules.map(({ model, outputLimit, streamOptions }) => (
        <li key={model}>
          {model} is sent <code>{outputLimit}</code>
          {streamOptions ? "" : " and no stream_options"}
        </li>
      ))}
    </ul>
  );
}

/** The capabilities that an account unlocks, folded because every account of a provider repeats the list. */
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

const STATES = {
  healthy: { label: "Healthy", icon: CircleCheck, tone: "good" },
  degraded: { label: "Degraded", icon: TriangleAlert, tone: "bad" },
  idle: { label: "Idle", icon: CircleDashed, tone: "neutral" },
} as const satisfies Record<ConnectionState, Look>;

const pathOf = ({ organizationId, credentialId }: Credential) => ({
  organization_id: organizationId,
  credential_id: credentialId,
});

type PlaceProps = {
  credential: Credential;
  projectId: string;
  environment: string;
  title: string;
  canChange: boolean;
};

function Place({ credential, projectId, environment, title, canChange }: PlaceProps) {
  const trpc = useTRPC();
  const refresh = [trpc.connections.pathKey()]; // every change can affect the whole page
  const bind = useAction(trpc.connections.bind.mutationOptions(), { refresh });
  const unbind = useAction(trpc.connections.unbind.mutationOptions(), { refresh });
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
      <ConfirmAction
        label="Disconnect"
        title={`Disconnect from ${environment}?`}
        description={`Jobs in ${environment} can no longer run on this account. Queued jobs that would use it fail without being sent.`}
        action="Disconnect"
        onConfirm={() => unbind.mutate({ ...path, binding_id: binding.bindingId })}
        size="sm"
        variant="ghost"
        pending={unbind.isPending}
        aria-label={`Disconnect ${title} ${credential.label} from ${environment}`}
      />
    </span>
  );
}

type ActionsProps = {
  credential: Credential;
  test: ReturnType<typeof useTest>;
  provider: ConnectableProvider | null;
  title: string;
};

function Actions({ credential, provider, title, test }: ActionsProps) {
  const trpc = useTRPC();
  const refresh = [trpc.connections.pathKey()]; // every change can affect the whole page
  const remove = useAction(trpc.connections.remove.mutationOptions(), {
    refresh,
    done: "Connection deleted",
  });
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
          <RotateSecret credential={credential} provider={provider} name={name} />
        </>
      )}
      <ConfirmAction
        label="Delete"
        title={`Delete ${name}?`}
        description="Its secret is deleted, and every environment that uses it is disconnected. Queued jobs that would use it fail without being sent."
        action="Delete connection"
        onConfirm={() => remove.mutate(pathOf(credential))}
        size="sm"
        pending={remove.isPending}
        aria-label={`Delete ${name}`}
      />
    </div>
  );
}

/** Replaces the secret of a connection. */
function RotateSecret({
  credential,
  provider,
  name,
}: {
  credential: Credential;
  provider: ConnectableProvider;
  /** The name of the connection. */
  name: string;
}) {
  const trpc = useTRPC();
  const rotate = useAction(trpc.connections.rotate.mutationOptions(), {
    isInPlace: true,
    done: `${provider.title} secret rotated`,
    refresh: [trpc.connections.pathKey()],
  });
  return (
    <FormDialog
      title={`Rotate ${provider.title} secret`}
      description="The new secret replaces the old one once the provider accepts it. Nothing else changes."
      trigger={
        <Button size="sm" aria-label={`Rotate ${name}`}>
          Rotate
        </Button>
      }
      action={rotate}
      send={(sent) =>
        rotate.mutate({
          organization_id: credential.organizationId,
          credential_id: credential.credentialId,
          provider: credential.provider,
          label: credential.label,
          secret: readSecretFields(provider, sent),
        })
      }
      submit="Rotate secret"
    >
      <SecretFields provider={provider} />
    </FormDialog>
  );
}
