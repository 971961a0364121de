"use client";
import { Ban, CircleCheck, Clock } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import type { TableColumn } from "@/components/blocks/list/resource-table";
import { defineStatus } from "@/components/blocks/status/status";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { CopyableId } from "@/components/ui/copyable-id";
import type { ApiKey } from "@/server/contract/organizations";

/** The columns of a key's lists: the project's, and the organization's. */
export const KEY_COLUMNS = {
  name: {
    header: "Name",
    card: "title",
    className: "max-w-48 truncate font-medium",
    cell: ({ name }) => (
      <span dir="auto" title={name}>
        {name}
      </span>
    ),
  },
  prefix: {
    header: "Key",
    cell: ({ prefix }) => <code className="text-xs whitespace-nowrap">{prefix}…</code>,
  },
  access: {
    header: "Access",
    className: "whitespace-nowrap text-muted",
    cell: ({ projectId }) => (projectId ? "This project" : "Every project"), // the environment is part of the prefix
  },
  scopes: { header: "Scopes", cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  status: { header: "Status", card: "status", cell: (key) => <KeyStatus apiKey={key} /> },
  lastUsed: {
    header: "Last used",
    card: "fact",
    className: "text-muted",
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago at={lastUsedAt} /> : "Never"),
  },
  created: {
    header: "Created",
    card: "fact",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
} satisfies Record<string, TableColumn<ApiKey>>;

function Scopes({ scopes }: { scopes: ApiKey["scopes"] }) {
  if (scopes.length === 1) return <code className="text-xs text-muted">{scopes[0]}</code>;
  return (
    <details className="text-xs text-muted">
      <summary className="whitespace-nowrap">{scopes.length} scopes</summary>
      <code>{scopes.join(" ")}</code>
    </details>
  );
}

const { StatusBadge } = defineStatus({
  active: { label: "Active", icon: CircleCheck, tone: "good" },
  expiring: { label: "Expires", icon: Clock, tone: "good" },
  rotated: { label: "Rotated", icon: Clock, tone: "warn" },
  expired: { label: "Expired", icon: Ban },
  revoked: { label: "Revoked", icon: Ban },
});

function statusOf({ revokedAt, expiresAt, replacedBy }: ApiKey) {
  if (revokedAt) return "revoked";
  if (expiresAt === null) return "active";
  if (new Date(expiresAt) <= new Date()) return "expired";
  return replacedBy ? "rotated" : "expiring";
}

function KeyStatus({ apiKey }: { apiKey: ApiKey }) {
  const status = statusOf(apiKey);
  const at = apiKey.expiresAt;
  if (at === null || status === "revoked") return <StatusBadge status={status} />;
  return (
    <StatusBadge status={status}>
      <span>
        {{ active: "Ends", expiring: "Expires", rotated: "Rotated, ends", expired: "Expired" }[status]}{" "}
        <Ago at={at} />
      </span>
    </StatusBadge>
  );
}

export function RevokeKey({ apiKey }: { apiKey: ApiKey }) {
  const trpc = useTRPC();
  const revoke = useAction(trpc.keys.revoke.mutationOptions(), {
    done: `Key “${apiKey.name}” revoked`,
    refresh: [trpc.keys.pathKey(), trpc.organizations.pathKey()],
  });
  if (apiKey.revokedAt) return null;
  return (
    <ConfirmAction
      label="Revoke"
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
      size="sm"
      pending={revoke.isPending}
      aria-label={`Revoke ${apiKey.name}`}
    />
  );
}
