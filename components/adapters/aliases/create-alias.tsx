"use client";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { AdapterPicker } from "@/components/adapters/adapter-picker";
import { aliasHref } from "@/components/adapters/list-state";
import { readWeight } from "@/components/adapters/read-weight";
import { WeightField } from "@/components/adapters/weight-field";
import { useAction } from "@/components/blocks/data/use-action";
import { TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/trpc";
import type { ModelAdapter } from "@/server/contract/adapters";

type Props = {
  projectId: string;
  environment: string;
  onClose(): void;
};

/** A dialog that creates an alias for an adapter. */
export function CreateAlias({ projectId, environment, onClose }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const [alias, setAlias] = useState("");
  const [adapter, setAdapter] = useState<ModelAdapter | null>(null);
  const [weight, setWeight] = useState("");
  const create = useAction(trpc.adapters.createAlias.mutationOptions(), {
    isInPlace: true,
    done: "Alias created",
    onDone: (made) => router.push(aliasHref(projectId, made.alias, { environment })),
    refresh: [trpc.adapters.pathKey()],
  });
  const chosenWeight = readWeight(weight);
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title="Create alias"
      description={`Requests in ${environment} use this name. You can point it to another adapter later.`}
      action={create}
      send={() => {
        if (!adapter || chosenWeight === undefined) return;
        const target = { adapterId: adapter.adapterId, weight: chosenWeight };
        create.mutate({ projectId, environment, alias, target });
      }}
      submit="Create alias"
      isReady={alias.trim() !== "" && adapter !== null && chosenWeight !== undefined}
    >
      <TextField
        name="alias"
        label="Name"
        hint="Letters and digits, with spaces or . _ - between them."
        value={alias}
        required
        maxLength={64}
        onChange={({ target }) => setAlias(target.value)}
      />
      <AdapterPicker projectId={projectId} environment={environment} chosen={adapter} onChoose={setAdapter} />
      <WeightField
        id="alias-weight"
        value={weight}
        onChange={setWeight}
        hint="1 is the strength as trained. Leave empty to use the adapter's recommendation."
      />
    </FormDialog>
  );
}
