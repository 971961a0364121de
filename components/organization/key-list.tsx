"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { CheckField, ChoiceField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { NewKey } from "@/components/keys/create-key";
import { CreateManagementKey } from "@/components/keys/create-management-key";
import { KEY_COLUMNS, RevokeKey } from "@/components/keys/key-columns";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import type { ApiKey } from "@/server/contract/organizations";

type NamedKey = ApiKey & { maker: string | null };

/** All keys of an organization, including those of its projects. */
export function KeyList({
  organizationId,
  canWrite,
  isOwner,
}: {
  organizationId: string;
  canWrite: boolean;
  isOwner: boolean;
}) {
  const trpc = useTRPC();
  const { data: keys } = useSuspenseQuery(trpc.organizations.keys.queryOptions({ organizationId }));
  const { data: projects } = useSuspenseQuery(trpc.organizations.projects.queryOptions({ organizationId }));
  const [isAllShown, setAllShown] = useState(false);
  const [rotating, setRotating] = useState<NamedKey | null>(null);
  const nameOf = new Map(projects.map((project) => [project.id, project.displayName]));
  const shown = keys.filter((key) => isAllShown || !key.revokedAt);
  return (
    <Card aria-labelledby="keys-title" className="overflow-hidden">
      <CardHeader
        id="keys-title"
        title="All API keys"
        actions={
          <>
            <CheckField
              name="revoked"
              label="Show revoked"
              isQuiet
              checked={isAllShown}
              onChange={setAllShown}
            />
            {isOwner && <CreateManagementKey organizationId={organizationId} projects={projects} />}
          </>
        }
      />
      {shown.length === 0 ? (
        <EmptyState icon={KeyRound} title="No active keys">
          Create keys in a project, for that project or for every project of the organization.
        </EmptyState>
      ) : (
        <ResourceTable
          label="All API keys"
          rows={shown}
          idOf={({ keyId }) => keyId}
          marks={({ name }) => ({ "data-key": name })}
          columns={columnsOf((id) => nameOf.get(id) ?? id)}
          actions={
            canWrite
              ? (key) =>
                  !key.revokedAt && (
                    <div className="flex justify-end gap-2">
                      {!key.replacedBy && !key.management && (
                        <Button size="sm" aria-label={`Rotate ${key.name}`} onClick={() => setRotating(key)}>
                          Rotate
                        </Button>
                      )}
                      <RevokeKey apiKey={key} />
                    </div>
                  )
              : undefined
          }
        />
      )}
      {rotating && <RotateKey apiKey={rotating} onClose={() => setRotating(null)} />}
    </Card>
  );
}

const columnsOf = (nameOf: (projectId: string) => string): Column<NamedKey>[] => [
  KEY_COLUMNS.name,
  KEY_COLUMNS.prefix,
  {
    header: "Access",
    className: "text-muted",
    cell: ({ projectId, management }) =>
      management
        ? `Manages ${management.projectIds.map(nameOf).join(", ")}`
        : projectId
          ? nameOf(projectId)
          : "Every project",
  },
  KEY_COLUMNS.status,
  KEY_COLUMNS.lastUsed,
  {
    header: "Created by",
    card: "fact",
    className: "text-muted [overflow-wrap:anywhere]",
    cell: ({ maker }) => maker ?? "an operator",
  },
];

const OVERLAPS = [
  { value: "0", label: "None (the old key stops working now)" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
];

/** Creates a key that replaces this one, and shows it once. The list owns it: a refresh may take the row's button away. */
function RotateKey({ apiKey, onClose }: { apiKey: NamedKey; onClose(): void }) {
  const trpc = useTRPC();
  const rotate = useAction(trpc.organizations.rotateKey.mutationOptions(), {
    isInPlace: true,
    refresh: [trpc.organizations.pathKey()],
  });
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={`Rotate “${apiKey.name}”`}
      description="Creates a new key with the same scopes. Both keys work during the overlap."
      action={rotate}
      send={(sent) =>
        rotate.mutate({ keyId: apiKey.keyId, overlapSeconds: Number(sent.text("overlapSeconds")) })
      }
      submit="Rotate key"
      after={rotate.data && <NewKey apiKey={rotate.data.apiKey} name={rotate.data.name} />}
    >
      <ChoiceField name="overlapSeconds" label="Overlap" defaultValue="86400" options={OVERLAPS} />
    </FormDialog>
  );
}
