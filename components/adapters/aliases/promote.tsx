"use client";
import { useState } from "react";
import { AdapterPicker } from "@/components/adapters/adapter-picker";
import { readWeight, WeightField } from "@/components/adapters/weight-field";
import { useAction } from "@/components/blocks/data/use-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import type { AliasShown, ModelAdapter } from "@/server/contract/adapters";
import { isSame, type Target } from "./diff";
import { DiffTable } from "./diff-table";

type Props = {
  alias: AliasShown;
  /** The initial choice; null for the current adapter. */
  offered: Target | null;
  onClose(): void;
};

/** Points an alias to another target, after showing the differences. */
export function Promote({ alias, offered, onClose }: Props) {
  const trpc = useTRPC();
  const before: Target = { adapter: alias.adapter, weight: alias.current.target.weight };
  const first = offered ?? before;
  const [adapter, setAdapter] = useState<ModelAdapter>(first.adapter);
  const [text, setText] = useState(first.weight === null ? "" : String(first.weight));
  const weight = readWeight(text);
  const after = weight === undefined ? null : { adapter, weight };
  const next = alias.versionCount + 1;
  const promote = useAction(trpc.adapters.promote.mutationOptions(), {
    isInPlace: true,
    done: ({ current }) => `“${alias.alias}” promoted to version ${current.number}`,
    refresh: [trpc.adapters.pathKey()],
  });
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      isWide
      title={`Promote “${alias.alias}”`}
      description="New requests that name the alias use the new version. Requests that were already accepted don't change."
      action={promote}
      send={() => {
        if (!after) return;
        promote.mutate({
          projectId: alias.projectId,
          environment: alias.environment,
          alias_name: alias.alias,
          target: { adapterId: after.adapter.adapterId, weight: after.weight },
        });
      }}
      submit={`Promote to version ${next}`}
      isReady={after !== null && !isSame(before, after)}
    >
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
    </FormDialog>
  );
}
