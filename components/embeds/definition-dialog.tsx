"use client";
import { useQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { ChecksField, ChoiceField, LinesField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { FormValues } from "@/components/blocks/form/form-values";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { SOME_AMOUNT } from "@/components/ui/amount";
import type { EmbedDefinition, EmbedPolicy, EmbedPresentation } from "@/server/contract/embeds";
import { emptyTerms, originsIn, ROUTING, ROUTING_WORDS, readTerms, SHOWN, SHOWN_WORDS } from "./terms";

const ANY = "any"; // a select cannot hold an empty value
const PRICES = [
  { value: "total", label: "Total" },
  { value: "breakdown", label: "Breakdown" },
  { value: "hidden", label: "Hidden" },
];
const REACHES = [
  { value: "project", label: "This project" },
  { value: "organization", label: "Every project" },
];

/** Creates an embed, or edits the given one. */
export function DefinitionDialog({
  project,
  definition,
  onClose,
}: {
  project: ProjectChoice;
  definition?: EmbedDefinition;
  onClose(): void;
}) {
  const trpc = useTRPC();
  const { presentation, policy, allowedOrigins } = definition?.currentVersion ?? emptyTerms;
  const options = {
    done: (made: EmbedDefinition) =>
      definition ? `Saved as version ${made.currentVersion.version}` : "Embed created",
    refresh: [trpc.embeds.pathKey()],
    isInPlace: true,
  };
  const define = useAction(trpc.embeds.define.mutationOptions(), options);
  const change = useAction(trpc.embeds.change.mutationOptions(), options);
  function send(sent: FormValues) {
    const { projectId, organizationId } = project;
    const displayName = sent.text("displayName");
    const terms = {
      ...readTerms(sent, { policy, presentation }),
      allowedOrigins: originsIn(sent.text("allowedOrigins")),
    };
    if (definition) return change.mutate({ definition_id: definition.id, displayName, ...terms });
    const capability = sent.text("capabilityKey");
    define.mutate({
      key: sent.text("key"),
      displayName,
      capabilityKey: capability === ANY ? null : capability,
      ...(sent.text("reach") === "organization" ? { organizationId } : { projectId }),
      ...terms,
    });
  }
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      isWide
      title={definition ? `Edit “${definition.displayName}”` : "Create embed"}
      description={
        definition
          ? "Changes to appearance or permissions create a new version, used by new sessions."
          : "Choose what runs, how it looks, and what a session may do."
      }
      action={definition ? change : define}
      send={send}
      submit={definition ? "Save" : "Create embed"}
    >
      <TextField
        name="displayName"
        label="Name"
        hint="The heading visitors see."
        required
        maxLength={255}
        defaultValue={definition?.displayName}
        placeholder="Picture studio"
      />
      {!definition && <Identity project={project} />}
      <LinesField
        name="allowedOrigins"
        label="Allowed origins"
        hint="One per line, such as https://app.example. If empty, each session sets its own."
        rows={2}
        spellCheck={false}
        className="min-h-16 font-mono text-xs"
        defaultValue={allowedOrigins.join("\n")}
      />
      <div className="grid items-start gap-4 sm:grid-cols-3">
        <ChoiceField
          name="pricingDisplay"
          label="Price"
          defaultValue={presentation.pricingDisplay}
          options={PRICES}
        />
        <TextField
          name="maxOutputs"
          label="Maximum outputs"
          hint="Per job."
          type="number"
          min={1}
          max={64}
          step={1}
          required
          defaultValue={policy.maxOutputs}
        />
        <MoneyField
          name="maxSpendPerJobMicros"
          label="Maximum price per job"
          hint="In USD. If empty, only the session's limit applies."
          bounds={SOME_AMOUNT}
          micros={policy.maxSpendPerJobMicros ?? null}
        />
      </div>
      <Allowed presentation={presentation} policy={policy} />
    </FormDialog>
  );
}

/** An embed's fixed properties: its key, its capability and its owner. */
function Identity({ project }: { project: ProjectChoice }) {
  const trpc = useTRPC();
  const { data: catalog } = useQuery(trpc.catalog.list.queryOptions({ project_id: project.projectId }));
  const durable = catalog?.filter(({ executionModes }) => executionModes.includes("job_async")) ?? [];
  return (
    <div className="grid items-start gap-4 sm:grid-cols-3">
      <TextField
        name="key"
        label="Key"
        hint="Sessions can refer to the embed by this key."
        required
        maxLength={128}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        title="Letters and digits; after the first character also . _ -"
        placeholder="picture-studio"
        spellCheck={false}
      />
      <ChoiceField
        name="capabilityKey"
        label="Capability"
        defaultValue="text.general.fast.v1"
        options={[
          ...durable.map(({ key, title }) => ({ value: key, label: title })),
          { value: ANY, label: "Any (custom interface)" },
        ]}
      />
      <ChoiceField name="reach" label="Access" defaultValue="project" options={REACHES} />
    </div>
  );
}

/** The parts that an embed shows, and the choices that its requests may make. */
function Allowed({ presentation, policy }: { presentation: EmbedPresentation; policy: EmbedPolicy }) {
  return (
    <>
      <ChecksField
        name="shown"
        label="Visible fields"
        groups={[{ names: SHOWN }]}
        words={SHOWN_WORDS}
        initial={SHOWN.filter((name) => presentation[name])}
      />
      <ChecksField
        name="routing"
        label="Routing choices"
        hint="If none are selected, the cheapest route is chosen automatically."
        groups={[{ names: ROUTING }]}
        words={ROUTING_WORDS}
        initial={ROUTING.filter((name) => policy.allowedRoutingPolicies.includes(name))}
      />
    </>
  );
}
