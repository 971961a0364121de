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
  /** The initial choice; null for the current adapter. */
  offered: Target | null;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
};

/** Points an alias to another target, after showing the differences. */
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
        toast.success(`“${alias.alias}” promoted to version ${current.number}`);
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
      projectId: alias.projectId,
      environment: alias.environment,
      alias_name: alias.alias,
      target: { adapterId: after.adapter.adapterId, weight: after.weight },
    });
  }
  return (
    <DialogContent
      className="max-w-2xl"
      title={`Promote “${alias.alias}”`}
      description="New requests that name the alias use the new version. Requests that were already accepted don't change."
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
          hint="1 is the strength as trained. Leave empty to use the adapter's recommendation."
        />
        <section aria-labelledby="promote-diff" aria-live="polite">
          <h3 id="promote-diff" className="mb-1.5 text-sm font-medium">
            From version {alias.current.number} to version {next}
          </h3>
          {after && <DiffTable before={before} after={after} />}
          {!adapter.frozen && (
            <Notice tone="warn" className="mt-2">
              This adapter is catalog-only. Requests that name the alias would be refused.
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
