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

/** Replaces the secret of a connection. */
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
        toast.success(`${provider.title} secret rotated`);
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
      title={`Rotate ${provider.title} secret`}
      description="The new secret replaces the old one once the provider accepts it. Nothing else changes."
    >
      <form onSubmit={submit} className="space-y-4">
        {rotate.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(rotate.error)}
          </Notice>
        )}
        <SecretFields provider={provider} />
        <SubmitActions pending={rotate.isPending}>Rotate secret</SubmitActions>
      </form>
    </DialogContent>
  );
}
