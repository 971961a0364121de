"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ModelAdapter } from "@/server/contract/adapters";
import { AdapterPicker } from "./adapter-picker";
import { aliasHref } from "./list-state";
import { readWeight } from "./read-weight";
import { WeightField } from "./weight-field";

type Props = {
  projectId: string;
  environment: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
};

/** A dialog that creates an alias for an adapter. */
export function CreateAlias(props: Props) {
  return (
    <Dialog open={props.isOpen} onOpenChange={props.onOpenChange}>
      {props.isOpen && <AliasForm {...props} />}
    </Dialog>
  );
}

function AliasForm({ projectId, environment }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const [alias, setAlias] = useState("");
  const [adapter, setAdapter] = useState<ModelAdapter | null>(null);
  const [weight, setWeight] = useState("");
  const create = useMutation(
    trpc.adapters.createAlias.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: (made) => {
        toast.success("Alias created");
        router.push(aliasHref(projectId, made.alias, { environment }));
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.adapters.pathKey() }),
    }),
  );
  const chosenWeight = readWeight(weight);
  const isReady = alias.trim() !== "" && adapter !== null && chosenWeight !== undefined;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReady || create.isPending) return;
    create.mutate({
      projectId,
      environment,
      alias,
      target: { adapterId: adapter.adapterId, weight: chosenWeight },
    });
  }
  return (
    <DialogContent
      title="Create alias"
      description={`Requests in ${environment} use this name. You can point it to another adapter later.`}
    >
      <form onSubmit={submit} className="space-y-4">
        {create.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(create.error)}
          </Notice>
        )}
        <Field id="alias-name" label="Name" hint="Letters and digits, with spaces or . _ - between them.">
          {(aria) => (
            <Input
              {...aria}
              value={alias}
              required
              maxLength={64}
              autoComplete="off"
              onChange={({ target }) => setAlias(target.value)}
            />
          )}
        </Field>
        <AdapterPicker
          projectId={projectId}
          environment={environment}
          chosen={adapter}
          onChoose={setAdapter}
        />
        <WeightField
          id="alias-weight"
          value={weight}
          onChange={setWeight}
          hint="1 is the strength as trained. Leave empty to use the adapter's recommendation."
        />
        <DialogActions>
          <DialogClose asChild>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" variant="primary" pending={create.isPending} disabled={!isReady}>
            Create alias
          </Button>
        </DialogActions>
      </form>
    </DialogContent>
  );
}
