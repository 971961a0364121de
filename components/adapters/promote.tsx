"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { AliasShown, ModelAdapter } from "@/server/contract/adapters";
import { AdapterPicker } from "./adapter-picker";
import { isSame, type Target } from "./diff";
import { DiffTable } from "./diff-table";
import { readWeight } from "./read-weight";
import { WeightField } from "./weight-field";

type Props = {
  alias: AliasShown;
  /** What is offered first; null: the adapter that is current. */
  offered: Target | null;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
};

/** Has an alias stand for something else; what changes is seen before it does. */
export function Promote(props: Props) {
  return (
    <Dialog open={props.isOpen} onOpenChange={props.onOpenChange}>
      {props.isOpen && <PromoteForm {...props} />}
    </Dialog>
  );
}

function PromoteForm({ alias, offered, onOpenChange }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const before: Target = { adapter: alias.adapter, weight: alias.current.target.weight };
  const first = offered ?? before;
  const [adapter, setAdapter] = useState<ModelAdapter>(first.adapter);
  const [text, setText] = useState(first.weight === null ? "" : String(first.weight));
  const weight = readWeight(text);
  const after = weight === undefined ? null : { adapter, weight };
  const next = alias.versionCount + 1;
  const promote = useMutation(
    trpc.adapters.promote.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ current }) => {
        toast.success(`“${alias.alias}” is version ${current.number} now`);
        onOpenChange(false);
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.adapters.pathKey() }),
    }),
  );
  const isReady = after !== null && !isSame(before, after);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReady || promote.isPending) return;
    promote.mutate({
      project_id: alias.projectId,
      environment: alias.environment,
      alias_name: alias.alias,
      target: { adapterId: after.adapter.adapterId, weight: after.weight },
    });
  }
  return (
    <DialogContent
      className="max-w-2xl"
      title={`Promote “${alias.alias}”`}
      description="Requests that name the alias use the new version from then on. Those already accepted keep what they were accepted with."
    >
      <form onSubmit={submit} className="space-y-4">
        {promote.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(promote.error)}
          </Notice>
        )}
        <AdapterPicker
          projectId={alias.projectId}
          environment={alias.environment}
          chosen={adapter}
          onChoose={setAdapter}
        />
        <WeightField
          id="promote-weight"
          value={text}
          onChange={setText}
          hint="How strong it draws, 1 is as trained. Empty: what the adapter recommends."
        />
        <section aria-labelledby="promote-diff" aria-live="polite">
          <h3 id="promote-diff" className="mb-1.5 text-sm font-medium">
            From version {alias.current.number} to version {next}
          </h3>
          {after && <DiffTable before={before} after={after} />}
          {!adapter.frozen && (
            <Notice tone="warn" className="mt-2">
              This adapter is catalog-only: requests that name the alias would be refused.
            </Notice>
          )}
        </section>
        <DialogActions>
          <DialogClose asChild>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" variant="primary" pending={promote.isPending} disabled={!isReady}>
            Promote to version {next}
          </Button>
        </DialogActions>
      </form>
    </DialogContent>
  );
}
