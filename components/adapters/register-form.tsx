"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ArtifactField } from "@/components/playground/file-fields";
import { sentencesOf, toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import { useMutation } from "@/components/use-mutation";
import { LicenseStatus } from "@/server/contract/adapters";
import type { AddProps } from "./add-props";
import { FamilySelect } from "./family-select";
import { readWeight } from "./read-weight";
import { WeightField } from "./weight-field";

const STATUS: Record<LicenseStatus, string> = {
  unknown: "Unknown",
  declared: "Declared by the author",
  verified: "Verified by you",
};

const BLANK = {
  kind: "service_artifact",
  ref: "",
  provider: "",
  revision: "",
  displayName: "",
  family: "",
  words: "",
  weight: "",
  licenseName: "",
  licenseUrl: "",
  licenseStatus: "unknown",
};
type Draft = typeof BLANK;

/** Registers weights that already have a reference: an artifact of the project, or a model at a provider. */
export function RegisterForm({ projectId, environment, onAdded }: AddProps) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const [draft, setDraft] = useState<Draft>(BLANK);
  const register = useMutation(
    trpc.adapters.register.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: (adapter) => onAdded(adapter, "Adapter registered"),
    }),
  );
  const issues = register.error ? toFailure(register.error).issues : [];
  const problemOf = (...path: string[]) =>
    issues.find(({ loc }) => loc.filter((step) => step !== "body").join(".") === path.join("."))?.msg;
  const set = (name: keyof Draft) => (value: string) => setDraft((known) => ({ ...known, [name]: value }));
  useUnsaved(draft !== BLANK && !register.isSuccess);
  const isArtifact = draft.kind === "service_artifact";
  const weight = readWeight(draft.weight);
  const isReady =
    draft.displayName.trim() !== "" &&
    draft.ref.trim() !== "" &&
    (isArtifact || draft.provider !== "") &&
    weight !== undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReady || register.isPending) return;
    register.mutate({
      projectId,
      environment,
      displayName: draft.displayName,
      source: isArtifact
        ? { kind: "service_artifact", ref: draft.ref.trim() }
        : {
            kind: "provider_ref",
            ref: draft.ref.trim(),
            provider: draft.provider,
            revision: draft.revision.trim() || null,
          },
      baseModelFamily: draft.family || null,
      triggerWords: draft.words
        .split(",")
        .map((word) => word.trim())
        .filter(Boolean),
      recommendedWeight: weight,
      licenseName: draft.licenseName || null,
      licenseUrl: draft.licenseUrl || null,
      licenseStatus: LicenseStatus.parse(draft.licenseStatus),
    });
  }

  const text =
    (name: keyof Draft, more: { placeholder?: string; maxLength?: number } = {}) =>
    (aria: { id: string }) => (
      <Input
        {...aria}
        {...more}
        value={draft[name]}
        autoComplete="off"
        onChange={({ target }) => set(name)(target.value)}
      />
    );

  return (
    <form onSubmit={submit} className="space-y-4" noValidate>
      {register.error && (
        <Notice tone="bad" role="alert">
          {sentencesOf(register.error)}
        </Notice>
      )}
      <Field
        id="known-kind"
        label="Source"
        hint={
          isArtifact
            ? "A .safetensors artifact of this project. It is checked when you register it."
            : "Weights stored at a provider under its own reference. With a revision they are assumed not to change; without one the adapter is catalog-only."
        }
      >
        {(aria) => (
          <Select value={draft.kind} onValueChange={set("kind")}>
            <SelectTrigger {...aria} />
            <SelectContent>
              <SelectItem value="service_artifact">Project artifact</SelectItem>
              <SelectItem value="provider_ref">Provider reference</SelectItem>
            </SelectContent>
          </Select>
        )}
      </Field>
      {isArtifact ? (
        <Field id="known-artifact" label="Artifact" problem={problemOf("source", "ref")}>
          {(aria) => (
            <ArtifactField
              {...aria}
              projectId={projectId}
              label="Artifact"
              value={draft.ref}
              disabled={false}
              onChange={set("ref")}
            />
          )}
        </Field>
      ) : (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <Field id="known-provider" label="Provider" problem={problemOf("source", "provider")}>
              {(aria) => (
                <Select value={draft.provider} onValueChange={set("provider")}>
                  <SelectTrigger {...aria} placeholder="Choose a provider" />
                  <SelectContent>
                    {choices.providers.map((name) => (
                      <SelectItem key={name} value={name}>
                        {name}
                      </SelectItem>
                    ))}
                  </SelectContent>
                </Select>
              )}
            </Field>
            <Field id="known-revision" label="Revision" hint="Optional.">
              {text("revision", { maxLength: 512 })}
            </Field>
          </div>
          <Field id="known-ref" label="Reference" problem={problemOf("source", "ref")}>
            {text("ref", { maxLength: 2048, placeholder: "owner/model" })}
          </Field>
        </>
      )}
      <Field
        id="known-name"
        label="Name"
        hint="Unique in the environment, ignoring case."
        problem={problemOf("displayName")}
      >
        {text("displayName", { maxLength: 255 })}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <FamilySelect
          id="known-family"
          value={draft.family}
          onChange={set("family")}
          none={isArtifact ? "From the file" : "Unknown"}
          hint="An adapter works only with the base model it was trained for."
        />
        <WeightField
          id="known-weight"
          value={draft.weight}
          onChange={set("weight")}
          hint="The recommended strength; 1 is as trained. Optional."
        />
      </div>
      <Field
        id="known-words"
        label="Trigger words"
        hint="Prompt words that activate the adapter, separated by commas. Optional."
        problem={problemOf("triggerWords")}
      >
        {text("words")}
      </Field>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field id="known-license" label="License" problem={problemOf("licenseName")}>
          {text("licenseName", { maxLength: 255, placeholder: "apache-2.0" })}
        </Field>
        <Field id="known-license-url" label="License URL" problem={problemOf("licenseUrl")}>
          {text("licenseUrl", { maxLength: 2048, placeholder: "https://" })}
        </Field>
        <Field id="known-license-status" label="License status">
          {(aria) => (
            <Select value={draft.licenseStatus} onValueChange={set("licenseStatus")}>
              <SelectTrigger {...aria} />
              <SelectContent>
                {LicenseStatus.options.map((status) => (
                  <SelectItem key={status} value={status}>
                    {STATUS[status]}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          )}
        </Field>
      </div>
      <Button type="submit" variant="primary" size="lg" pending={register.isPending} disabled={!isReady}>
        Register
      </Button>
    </form>
  );
}
