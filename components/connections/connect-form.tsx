"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { type ProjectChoice, sentencesOf, useTRPC } from "@/components/trpc";
import { CheckList } from "@/components/ui/check-list";
import { DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { readSecret, SecretFields } from "./secret-fields";

/** The names in a comma-separated list; null for none, which means the defaults. */
function namesIn(text: string): string[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  return names.length > 0 ? names : null;
}

/** Connects a provider account. The secret is checked with the provider while the form waits. */
export function ConnectForm({
  project,
  provider,
  environment,
  onDone,
}: {
  project: ProjectChoice;
  provider: ConnectableProvider;
  /** The environment named in a link. */
  environment: string | null;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { environments } = project;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () =>
      new Set(environment && environments.includes(environment) ? [environment] : environments.slice(0, 1)),
  );
  const connect = useMutation(
    trpc.connections.connect.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: () => {
        toast.success(`${provider.title} connected`);
        onDone();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.connections.pathKey() }),
    }),
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    connect.mutate({
      project_id: project.projectId,
      provider: provider.name,
      secret: readSecret(provider, fields),
      label: String(fields.get("label")).trim() || "default",
      environments: environments.filter((each) => chosen.has(each)),
      ...(provider.hasOwnServer
        ? {
            endpointUrl: String(fields.get("endpointUrl")),
            models: String(fields.get("models")),
            passThrough: namesIn(String(fields.get("passThrough"))),
          }
        : {}),
    });
  }

  return (
    <DialogContent
      title={`Connect ${provider.title}`}
      description="The secret is checked with the provider, stored encrypted and never shown again."
    >
      <form onSubmit={submit} className="space-y-4">
        {connect.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(connect.error)}
          </Notice>
        )}
        {provider.hasOwnServer && (
          <>
            <div className="space-y-1.5">
              <Label htmlFor="connect-endpoint">Base URL</Label>
              <Input
                id="connect-endpoint"
                name="endpointUrl"
                type="url"
                required
                maxLength={2048}
                placeholder="https://llm.example.com/v1"
                autoComplete="off"
              />
            </div>
            <div className="space-y-1.5">
              <Label htmlFor="connect-models">Models</Label>
              <Input
                id="connect-models"
                name="models"
                required
                maxLength={16_384}
                placeholder="llama-3:0.20:0.60"
                autoComplete="off"
                aria-describedby="connect-models-help"
              />
              <p id="connect-models-help" className="text-xs text-muted">
                <code>id:in:out</code> with prices in US dollars per million tokens. Separate models with
                commas. Use <code>id:in:embeddings</code> for an embedding model.
              </p>
            </div>
            <div className="space-y-1.5">
              <Label htmlFor="connect-pass">Extra request fields</Label>
              <Input
                id="connect-pass"
                name="passThrough"
                maxLength={4_096}
                placeholder="top_k, min_p, guided_*"
                autoComplete="off"
                aria-describedby="connect-pass-help"
              />
              <p id="connect-pass-help" className="text-xs text-muted">
                OpenAI request fields that are passed to this server unchanged. Leave empty for the defaults.
                <code>*</code> passes any field, except while a budget is set to “Prevent”.
              </p>
            </div>
          </>
        )}
        <SecretFields provider={provider} />
        <div className="space-y-1.5">
          <Label htmlFor="connect-label">Name</Label>
          <Input id="connect-label" name="label" maxLength={128} defaultValue="default" autoComplete="off" />
        </div>
        <fieldset>
          <legend className="text-sm font-medium">Environments of {project.displayName}</legend>
          <CheckList prefix="environment" names={environments} chosen={chosen} onChange={setChosen} />
        </fieldset>
        <SubmitActions pending={connect.isPending}>Connect account</SubmitActions>
      </form>
    </DialogContent>
  );
}
