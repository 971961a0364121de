"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Clock, KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import { PageHeader } from "@/components/shell/page-header";
import { Ago, Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { CopyableId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { Label } from "@/components/ui/label";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { Tooltip } from "@/components/ui/tooltip";
import { useMutation } from "@/components/use-mutation";
import type { ApiKey } from "@/server/contract/organizations";
import { CreateKey } from "./create-key";

/** The API keys of a project. */
export function KeyRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: keys } = useSuspenseQuery(trpc.keys.list.queryOptions({ project_id: projectId }));
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const [isRevokedShown, setRevokedShown] = useState(false);
  const project = projects.find((each) => each.projectId === projectId);
  const canWrite = project !== undefined && project.role !== "viewer";
  const shown = keys.filter((key) => isRevokedShown || key.revokedAt === null);
  const revokedCount = keys.filter((key) => key.revokedAt !== null).length;

  return (
    <>
      <PageHeader title="API keys" actions={canWrite && <CreateKey project={project} />}>
        Keys authenticate agents and programs. Only a hash is stored, so a key is shown once.
      </PageHeader>
      <Card className="overflow-hidden">
        {shown.length === 0 ? (
          <EmptyState
            icon={KeyRound}
            title={revokedCount > 0 ? "No active keys" : "No API keys yet"}
            action={canWrite && <CreateKey project={project} />}
          >
            {canWrite
              ? "Create one to let an agent or a program run capabilities in this project."
              : "Members of your organization can create one. Your role here is viewer."}
          </EmptyState>
        ) : (
          <KeyTable keys={shown} canWrite={canWrite} />
        )}
      </Card>
      {revokedCount > 0 && (
        <div className="mt-3 flex items-center gap-2">
          <Checkbox
            id="show-revoked"
            checked={isRevokedShown}
            onCheckedChange={(checked) => setRevokedShown(checked === true)}
          />
          <Label htmlFor="show-revoked" className="font-normal text-muted">
            Show {revokedCount === 1 ? "1 revoked key" : `${revokedCount} revoked keys`}
          </Label>
        </div>
      )}
    </>
  );
}

function KeyTable({ keys, canWrite }: { keys: ApiKey[]; canWrite: boolean }) {
  return (
    <>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">API keys, newest first</caption>
          <thead>
            <tr>
              <TableHead>Name</TableHead>
              <TableHead>Key</TableHead>
              <TableHead>Access</TableHead>
              <TableHead>Scopes</TableHead>
              <TableHead>Status</TableHead>
              <TableHead>Last used</TableHead>
              <TableHead>Created</TableHead>
              <TableHead>
                <span className="sr-only">Actions</span>
              </TableHead>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <TableRow key={key.keyId} data-key={key.name}>
                <TableCell dir="auto" className="max-w-48 truncate font-medium" title={key.name}>
                  {key.name}
                </TableCell>
                <TableCell>
                  <KeyPrefix apiKey={key} />
                </TableCell>
                <TableCell className="whitespace-nowrap text-muted">{reachOf(key)}</TableCell>
                <TableCell>
                  <Scopes scopes={key.scopes} />
                </TableCell>
                <TableCell>
                  <KeyStatus apiKey={key} />
                </TableCell>
                <TableCell className="text-muted">
                  <LastUsed apiKey={key} />
                </TableCell>
                <TableCell className="text-muted">
                  <Ago at={key.createdAt} />
                </TableCell>
                <TableCell className="text-right">{canWrite && <RevokeKey apiKey={key} />}</TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="API keys, newest first" className="divide-y divide-line md:hidden">
        {keys.map((key) => (
          <li key={key.keyId} className="space-y-2 px-4 py-3" data-key={key.name}>
            <div className="flex items-center justify-between gap-3">
              <span dir="auto" className="min-w-0 truncate text-sm font-medium">
                {key.name}
              </span>
              <KeyStatus apiKey={key} />
            </div>
            <div className="flex items-center justify-between gap-3">
              <KeyPrefix apiKey={key} />
              <Scopes scopes={key.scopes} />
            </div>
            <div className="flex items-end justify-between gap-3 text-xs text-muted">
              <div>
                <Line name="Access">{reachOf(key)}</Line>
                <Line name="Last used">
                  <LastUsed apiKey={key} />
                </Line>
                <Line name="Created">
                  <Ago at={key.createdAt} />
                </Line>
              </div>
              {canWrite && <RevokeKey apiKey={key} />}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      {name}: <span className="text-text">{children}</span>
    </div>
  );
}

function KeyPrefix({ apiKey }: { apiKey: ApiKey }) {
  return <code className="text-xs whitespace-nowrap">{apiKey.prefix}…</code>;
}

function reachOf(key: ApiKey): string {
  return key.projectId ? "This project" : "Every project"; // the environment is part of the prefix
}

function Scopes({ scopes }: { scopes: ApiKey["scopes"] }) {
  return (
    <Tooltip text={<span className="font-mono">{scopes.join("  ")}</span>}>
      <button
        type="button"
        className="rounded text-xs whitespace-nowrap text-muted underline decoration-dotted underline-offset-3"
      >
        {scopes.length === 1 ? scopes[0] : `${scopes.length} scopes`}
        <span className="sr-only">: {scopes.join(", ")}</span>
      </button>
    </Tooltip>
  );
}

function LastUsed({ apiKey }: { apiKey: ApiKey }) {
  return apiKey.lastUsedAt ? <Ago at={apiKey.lastUsedAt} /> : "Never";
}

function KeyStatus({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.revokedAt) {
    return (
      <Badge>
        <Ban aria-hidden />
        Revoked
      </Badge>
    );
  }
  if (apiKey.expiresAt === null) {
    return (
      <Badge tone="good">
        <CircleCheck aria-hidden />
        Active
      </Badge>
    );
  }
  const isExpired = new Date(apiKey.expiresAt) <= new Date();
  return (
    <Tooltip
      text={
        <>
          {isExpired ? "Expired" : "Expires"} <Moment at={apiKey.expiresAt} />
        </>
      }
    >
      <button type="button" className="rounded-full" suppressHydrationWarning>
        <Badge tone={isExpired ? "neutral" : "good"}>
          {isExpired ? <Ban aria-hidden /> : <Clock aria-hidden />}
          {isExpired ? "Expired" : <ExpiresIn at={apiKey.expiresAt} />}
        </Badge>
      </button>
    </Tooltip>
  );
}

function ExpiresIn({ at }: { at: string }) {
  return (
    <span>
      Expires <Ago at={at} />
    </span>
  );
}

function RevokeKey({ apiKey }: { apiKey: ApiKey }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const revoke = useMutation(
    trpc.keys.revoke.mutationOptions({
      onSuccess: () => toast.success(`Key “${apiKey.name}” revoked`),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.keys.pathKey() }),
    }),
  );
  if (apiKey.revokedAt) return null;
  return (
    <Confirm
      title={`Revoke “${apiKey.name}”?`}
      description={
        <>
          Anything using this key is refused from its next request. This cannot be undone.
          <div className="mt-2">
            <CopyableId id={apiKey.keyId} what="key id" />
          </div>
        </>
      }
      action="Revoke key"
      onConfirm={() => revoke.mutate({ key_id: apiKey.keyId })}
    >
      <Button size="sm" pending={revoke.isPending} aria-label={`Revoke ${apiKey.name}`}>
        Revoke
      </Button>
    </Confirm>
  );
}
