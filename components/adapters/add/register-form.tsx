"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FamilySelect } from "@/components/adapters/family-select";
import { readWeight, WeightField } from "@/components/adapters/weight-field";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { Form, useProblem } from "@/components/blocks/form/form";
import type { FormValues } from "@/components/blocks/form/form-values";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { useTRPC } from "@/components/data/trpc";
import { ArtifactField } from "@/components/playground/input/file-fields";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import { LICENSE_STATUSES } from "@/server/contract/enums";
import type { AddProps } from "./add-props";

const SOURCES = [
  { value: "service_artifact", label: "Project artifact" },
  { value: "provider_ref", label: "Provider reference" },
];
const STATUSES = [
  { value: "unknown", label: "Unknown" },
  { value: "declared", label: "Declared by the author" },
  { value: "verified", label: "Verified by you" },
];

const wordsIn = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** Registers weights that already have a reference: an artifact of the project, or a model at a provider. */
export function RegisterForm({ projectId, environment, onAdded }: AddProps) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const [kind, setKind] = useState("service_artifact");
  const [artifact, setArtifact] = useState("");
  const [family, setFamily] = useState("");
  const [weight, setWeight] = useState("");
  const [isTyped, setTyped] = useState(false);
  const register = useAction(trpc.adapters.register.mutationOptions(), {
    isInPlace: true,
    onDone: (adapter) => onAdded(adapter, "Adapter registered"),
  });
  useUnsaved(isTyped && !register.isSuccess);
  const isArtifact = kind === "service_artifact";
  const recommendedWeight = readWeight(weight);

  function send({ text, given }: FormValues) {
    if (recommendedWeight === undefined) return; // its field shows the error
    register.mutate({
      projectId,
      environment,
      displayName: text("displayName"),
      source: isArtifact
        ? { kind: "service_artifact", ref: artifact.trim() }
        : {
            kind: "provider_ref",
            ref: text("ref"),
            provider: text("provider"),
            revision: given("revision") ?? null,
          },
      baseModelFamily: family || null,
      triggerWords: wordsIn(text("triggerWords")),
      recommendedWeight,
      licenseName: given("licenseName") ?? null,
      licenseUrl: given("licenseUrl") ?? null,
      licenseStatus: oneOfOr("unknown", LICENSE_STATUSES)(text("licenseStatus")),
    });
  }

  return (
    <Form action={register} send={send} onInput={() => setTyped(true)}>
      <ChoiceField
        name="kind"
        label="Source"
        hint={
          isArtifact
            ? "A .safetensors artifact of this project. It is checked when you register it."
            : "Weights stored at a provider under its own reference. With a revision they are assumed not to change; without one the adapter is catalog-only."
        }
        value={kind}
        onValueChange={setKind}
        options={SOURCES}
      />
      {isArtifact ? (
        <Artifact projectId={projectId} value={artifact} onChange={setArtifact} />
      ) : (
        <ProviderReference providers={choices.providers} />
      )}
      <TextField
        name="displayName"
        label="Name"
        hint="Unique in the environment, ignoring case."
        required
        maxLength={255}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <FamilySelect
          id="known-family"
          value={family}
          onChange={setFamily}
          none={isArtifact ? "From the file" : "Unknown"}
          hint="An adapter works only with the base model it was trained for."
        />
        <WeightField
          id="known-weight"
          value={weight}
          onChange={setWeight}
          hint="The recommended strength; 1 is as trained. Optional."
        />
      </div>
      <TextField
        name="triggerWords"
        label="Trigger words"
        hint="Prompt words that activate the adapter, separated by commas. Optional."
      />
      <License />
      <Button
        type="submit"
        variant="primary"
        size="lg"
        pending={register.isPending}
        disabled={recommendedWeight === undefined || (isArtifact && artifact.trim() === "")}
      >
        Register
      </Button>
    </Form>
  );
}

type ArtifactProps = { projectId: string; value: string; onChange(value: string): void };

const Artifact = (props: ArtifactProps) => (
  <Field id="known-artifact" label="Artifact" problem={useProblem("ref")}>
    {(aria) => <ArtifactField {...aria} {...props} label="Artifact" disabled={false} />}
  </Field>
);

const License = () => (
  <div className="grid gap-4 sm:grid-cols-3">
    <TextField name="licenseName" label="License" maxLength={255} placeholder="apache-2.0" />
    <TextField name="licenseUrl" label="License URL" maxLength={2048} placeholder="https://" />
    <ChoiceField name="licenseStatus" label="License status" defaultValue="unknown" options={STATUSES} />
  </div>
);

const ProviderReference = ({ providers }: { providers: string[] }) => (
  <>
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceField
        name="provider"
        label="Provider"
        placeholder="Choose a provider"
        options={toOptions(providers)}
      />
      <TextField name="revision" label="Revision" hint="Optional." maxLength={512} />
    </div>
    <TextField name="ref" label="Reference" required maxLength={2048} placeholder="owner/model" />
  </>
);
