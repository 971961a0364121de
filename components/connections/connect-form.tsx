"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { ChecksField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { readSecretFields, SecretFields } from "./secret-fields";

/** The names in a comma-separated list; null for an empty list, which means the defaults. */
function namesIn(text: string): string[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  return names.length > 0 ? names : null;
}

/** Connects a provider account. The secret is checked with the provider while the form waits. */
export function ConnectDialog({
  project: { projectId, displayName, environments },
  provider,
  environment,
  onClose,
}: {
  project: ProjectChoice;
  provider: ConnectableProvider;
  /** The environment to select first: the one that a link names, or else the project's first. */
  environment: string | null;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const connect = useAction(trpc.connections.connect.mutationOptions(), {
    isInPlace: true,
    done: `${provider.title} connected`,
    refresh: [trpc.connections.pathKey()],
  });
  const named = environment && environments.includes(environment) ? [environment] : null;
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={`Connect ${provider.title}`}
      description="The secret is checked with the provider, stored encrypted and never shown again."
      action={connect}
      send={(sent) =>
        connect.mutate({
          project_id: projectId,
          provider: provider.name,
          secret: readSecretFields(provider, sent),
          label: sent.given("label") ?? "default",
          environments: sent.chosen("environments", environments),
          ...(provider.hasOwnServer && {
            endpointUrl: sent.text("endpointUrl"),
            models: sent.text("models"),
            passThrough: namesIn(sent.text("passThrough")),
          }),
        })
      }
      submit="Connect account"
    >
      {provider.hasOwnServer && (
        <>
          <TextField
            name="endpointUrl"
            label="Base URL"
            type="url"
            required
            maxLength={2048}
            placeholder="https://llm.example.com/v1"
          />
          <TextField
            name="models"
            label="Models"
            hint={
              <>
                <code>id:in:out</code> with prices in US dollars per million tokens. Separate models with
                commas. Use <code>id:in:embeddings</code> for an embedding model, and{" "}
                <code>id:in:out:pictures</code> for one that reads pictures.
              </>
            }
            required
            maxLength={16_384}
            placeholder="llama-3:0.20:0.60"
          />
          <TextField
            name="passThrough"
            label="Extra request fields"
            hint={
              <>
                OpenAI request fields that are passed to this server unchanged. Leave empty for the defaults.
                <code>*</code> passes any field, except while a budget is set to “Prevent”.
              </>
            }
            maxLength={4_096}
            placeholder="top_k, min_p, guided_*"
          />
        </>
      )}
      <SecretFields provider={provider} />
      <TextField
        name="label"
        label="Name"
        hint={
          provider.hasOwnServer && (
            <>
              Name a second server of an environment: its models are <code>{provider.name}:name/model</code>.
            </>
          )
        }
        maxLength={128}
        defaultValue="default"
      />
      <ChecksField
        name="environments"
        label={`Environments of ${displayName}`}
        groups={[{ names: environments }]}
        initial={named ?? environments.slice(0, 1)}
      />
    </FormDialog>
  );
}
