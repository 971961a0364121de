"use client";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { PresetField } from "@/components/blocks/form/preset-field";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { SecretDialog } from "@/components/ui/secret-dialog";
import { KEY_SCOPES } from "@/server/contract/enums";

const DAY_SECONDS = 86_400;
const LIFETIMES = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "No expiry" },
];
const REACHES = [
  { value: "project", label: "This project" },
  { value: "organization", label: "Every project" },
];

type ScopeName = (typeof KEY_SCOPES)[number];

const isReading = (scope: ScopeName) => scope.endsWith(":read");
/** Scopes that an agent does not get by default: deciding for people, and handling other people's secrets. */
const ON_PURPOSE: readonly ScopeName[] = ["approvals:write", "credentials:write"];
const ADMINS_ONLY: readonly ScopeName[] = ["credentials:write"];

/** Creates a key in a dialog that then shows it once. */
export function CreateKey({ project }: { project: ProjectChoice }) {
  const trpc = useTRPC();
  const { projectId, organizationId, environments } = project;
  const isAdmin = project.role === "owner" || project.role === "admin";
  const offered = KEY_SCOPES.filter((scope) => isAdmin || !ADMINS_ONLY.includes(scope));
  const agent = offered.filter((scope) => !ON_PURPOSE.includes(scope));
  const [isReady, setReady] = useState(true);
  const create = useAction(trpc.keys.create.mutationOptions(), {
    refresh: [trpc.keys.pathKey()],
    isInPlace: true,
  });
  return (
    <FormDialog
      title="Create API key"
      description="A key can do what its scopes allow, and never more than you can."
      trigger={
        <Button variant="primary">
          <Plus aria-hidden />
          Create key
        </Button>
      }
      action={create}
      send={(sent) =>
        create.mutate({
          name: sent.text("name"),
          ...(sent.text("reach") === "organization" ? { organizationId } : { projectId }),
          environment: sent.text("environment"),
          scopes: sent.chosen("scopes", offered),
          ...(sent.text("lifetime") === "never"
            ? {}
            : { expiresInSeconds: Number(sent.text("lifetime")) * DAY_SECONDS }),
        })
      }
      submit="Create key"
      isReady={isReady}
      after={create.data && <NewKey apiKey={create.data.apiKey} name={create.data.name} />}
    >
      <TextField name="name" label="Name" required maxLength={255} placeholder="Nightly agent" />
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField name="reach" label="Access" defaultValue="project" options={REACHES} />
        <ChoiceField
          name="environment"
          label="Environment"
          defaultValue={environments.includes("development") ? "development" : (environments[0] ?? "")}
          options={toOptions(environments)}
        />
      </div>
      <ChoiceField name="lifetime" label="Expiry" defaultValue="90" options={LIFETIMES} />
      <PresetField
        name="scopes"
        label="Scopes"
        presets={[
          { label: "For an agent", hint: "Runs capabilities, and reads what it ran.", names: agent },
          { label: "Read only", hint: "Runs and changes nothing.", names: offered.filter(isReading) },
          { label: "Everything", hint: "Includes approving jobs on people's behalf.", names: offered },
        ]}
        own="Choose scopes"
        groups={[{ names: offered }]}
        initial={agent}
        onReady={setReady}
      />
    </FormDialog>
  );
}

/** Shows the new key once. */
export function NewKey({ apiKey, name }: { apiKey: string; name: string }) {
  return (
    <SecretDialog
      title="Copy your key now"
      description={`This is the only time “${name}” is shown in full. If you lose it, revoke it and create another.`}
      secret={apiKey}
      what="API key"
      testId="new-key"
    />
  );
}
