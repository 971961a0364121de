"use client";
import { Ban, CircleCheck, Clock } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import type { Column } from "@/components/blocks/list/resource-table";
import { defineStatus } from "@/components/blocks/status/status";
import { Ago, Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { CopyableId } from "@/components/ui/copyable-id";
import { Tooltip } from "@/components/ui/tooltip";
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
} satisfies Record<string, Column<ApiKey>>;

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
    <Tooltip
      text={
        <>
          {status === "expired" ? "Expired" : "Expires"} <Moment at={at} />
        </>
      }
    >
      <button type="button" className="rounded-full" suppressHydrationWarning>
        <StatusBadge status={status}>
          {status === "expired" ? undefined : (
            <span>
              {status === "rotated" ? "Rotated, ends" : "Expires"} <Ago at={at} />
            </span>
          )}
        </StatusBadge>
      </button>
    </Tooltip>
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
