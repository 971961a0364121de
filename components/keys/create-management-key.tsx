"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChecksField, ChoiceField, LinesField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { MANAGEMENT_SCOPES, RUN_SCOPES } from "@/server/contract/enums";
import { NewKey } from "./create-key";

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
export function CreateManagementKey({ organizationId, projects }: Props) {
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
