"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ConnectableProvider, Credential } from "@/server/contract/credentials";
import { readSecret, SecretFields } from "./secret-fields";

/** Puts a new secret in the place of the old one. */
export function RotateForm({
  credential,
  provider,
  onDone,
}: {
  credential: Credential;
  provider: ConnectableProvider;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const rotate = useMutation(
    trpc.connections.rotate.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: () => {
        toast.success(`${provider.title} has its new secret`);
        onDone();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.connections.pathKey() }),
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    rotate.mutate({
      organization_id: credential.organizationId,
      credential_id: credential.credentialId,
      provider: credential.provider,
      label: credential.label,
      secret: readSecret(provider, new FormData(event.currentTarget)),
    });
  }
  return (
    <DialogContent
      title={`Rotate ${provider.title}`}
      description="The new secret is checked first; until then the old one stays. What it serves does not change."
    >
      <form onSubmit={submit} className="space-y-4">
        {rotate.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(rotate.error)}
          </Notice>
        )}
        <SecretFields provider={provider} />
        <SubmitActions pending={rotate.isPending}>Check and rotate</SubmitActions>
      </form>
    </DialogContent>
  );
}
