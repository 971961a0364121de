"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import {
  CheckField,
  ChecksField,
  ChoiceField,
  LinesField,
  MoneyField,
  TextField,
} from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { NewKey } from "@/components/keys/create-key";
import { KEY_COLUMNS, RevokeKey } from "@/components/keys/key-columns";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { MANAGEMENT_SCOPES, RUN_SCOPES } from "@/server/contract/enums";
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
    <Section
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
      isFlush
    >
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
    </Section>
  );
}

const columnsOf = (nameOf: (projectId: string) => string): TableColumn<NamedKey>[] => [
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

/**
 * Creates a key that replaces this one, and shows it once. The list renders it, because a refresh may remove the row's
 * button.
 */
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

const DAY_SECONDS = 86_400;
const LIFETIMES = [
  { value: "1", label: "1 day" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
];
const PERIODS = ["total", "month", "day"] as const;
const PERIOD_OPTIONS = [
  { value: "total", label: "In total" },
  { value: "month", label: "Per month" },
  { value: "day", label: "Per day" },
];

type Props = { organizationId: string; projects: readonly { id: string; displayName: string }[] };

/** Creates a management key in a dialog that then shows it once. For owners. */
function CreateManagementKey({ organizationId, projects }: Props) {
  const trpc = useTRPC();
  const [counts, setCounts] = useState({ scopes: 1, projects: 0 });
  const create = useAction(trpc.keys.createManagement.mutationOptions(), {
    refresh: [trpc.organizations.pathKey(), trpc.keys.pathKey()],
    isInPlace: true,
  });
  const ids = projects.map(({ id }) => id);
  return (
    <FormDialog
      title="Create management key"
      description="Sets up projects by machine. It runs nothing, and what it can hand out cannot be changed later."
      trigger={<Button size="sm">Create management key</Button>}
      isWide
      action={create}
      send={(sent) => {
        const micros = sent.micros("ceiling");
        create.mutate({
          organizationId,
          name: sent.text("name"),
          scopes: sent.chosen("scopes", MANAGEMENT_SCOPES),
          projectIds: sent.chosen("projectIds", ids),
          runScopes: sent.chosen("runScopes", RUN_SCOPES),
          hosts: sent.text("hosts").split(/\s+/).filter(Boolean),
          ...(micros === null ? {} : { ceiling: { micros, period: sent.oneOf("period", PERIODS) } }),
          expiresInSeconds: Number(sent.text("lifetime")) * DAY_SECONDS,
        });
      }}
      submit="Create management key"
      isReady={counts.scopes > 0 && counts.projects > 0}
      after={create.data && <NewKey apiKey={create.data.apiKey} name={create.data.name} />}
    >
      <TextField name="name" label="Name" required maxLength={255} placeholder="Set up projects" />
      <ChoiceField name="lifetime" label="Expiry" defaultValue="30" options={LIFETIMES} />
      <ChecksField
        name="scopes"
        label="Scopes"
        groups={[{ names: MANAGEMENT_SCOPES }]}
        initial={["keys:write"]}
        onChosen={(scopes) => setCounts((before) => ({ ...before, scopes }))}
      />
      <ChecksField
        name="projectIds"
        label="Projects"
        groups={[{ names: ids }]}
        words={Object.fromEntries(projects.map((project) => [project.id, project.displayName]))}
        onChosen={(chosen) => setCounts((before) => ({ ...before, projects: chosen }))}
      />
      <ChecksField
        name="runScopes"
        label="Scopes of its keys"
        groups={[{ names: RUN_SCOPES }]}
        initial={["capabilities:run", "jobs:read", "jobs:write"]}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <MoneyField name="ceiling" label="Limit for all its keys together" />
        <ChoiceField name="period" label="Period" defaultValue="total" options={PERIOD_OPTIONS} />
      </div>
      <LinesField
        name="hosts"
        label="Hosts of base URLs"
        hint="One per line, such as models.example.com. Needed with credentials:write."
        rows={2}
      />
    </FormDialog>
  );
}
