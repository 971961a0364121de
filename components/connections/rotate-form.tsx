"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { ConnectableProvider, Credential } from "@/server/contract/credentials";
import { readSecret, SecretFields } from "./secret-fields";

/** Replaces the secret of a connection. */
export function RotateSecret({
  credential,
  provider,
  name,
}: {
  credential: Credential;
  provider: ConnectableProvider;
  /** The connection's. */
  name: string;
}) {
  const trpc = useTRPC();
  const rotate = useAction(trpc.connections.rotate.mutationOptions(), {
    isInPlace: true,
    done: `${provider.title} secret rotated`,
    refresh: [trpc.connections.pathKey()],
  });
  return (
    <FormDialog
      title={`Rotate ${provider.title} secret`}
      description="The new secret replaces the old one once the provider accepts it. Nothing else changes."
      trigger={
        <Button size="sm" aria-label={`Rotate ${name}`}>
          Rotate
        </Button>
      }
      action={rotate}
      send={(sent) =>
        rotate.mutate({
          organization_id: credential.organizationId,
          credential_id: credential.credentialId,
          provider: credential.provider,
          label: credential.label,
          secret: readSecret(provider, sent),
        })
      }
      submit="Rotate secret"
    >
      <SecretFields provider={provider} />
    </FormDialog>
  );
}
