"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Plus, Tag } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { AdapterPicker } from "@/components/adapters/adapter-picker";
import {
  aliasesHref,
  aliasHref,
  environmentOf,
  type PageState,
  toPageQuery,
} from "@/components/adapters/list-state";
import { RoomHeader } from "@/components/adapters/room-header";
import { readWeight, WeightField } from "@/components/adapters/weight-field";
import { type Family, FrozenBadge, familyWords, HealthBadge } from "@/components/adapters/words";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { column } from "@/components/blocks/list/columns";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import type { AliasShown, ModelAdapter } from "@/server/contract/adapters";
import { weightWords } from "./diff";

/** The aliases of an environment, newest first, each with its current adapter. */
export function AliasList({ projectId, state }: { projectId: string; state: PageState }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.adapters.aliases.queryOptions(toPageQuery(projectId, state)));
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const [isCreating, setCreating] = useState(false);
  const environment = environmentOf(state);
  const isEmpty = data.items.length === 0 && !state.cursor;
  const create = mayWrite && (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      Create alias
    </Button>
  );
  return (
    <>
      <RoomHeader
        projectId={projectId}
        room="aliases"
        environment={environment}
        actions={!isEmpty && create}
      />
      {mayWrite && isCreating && (
        <CreateAlias projectId={projectId} environment={environment} onClose={() => setCreating(false)} />
      )}
      <ListCard
        noun="aliases"
        page={data}
        state={state}
        hrefOf={(page) => aliasesHref(projectId, page)}
        first={
          <EmptyState icon={Tag} title={`No aliases in ${environment} yet`} action={create}>
            {mayWrite
              ? "Requests use an alias instead of a specific adapter, so you can promote better weights without changing those requests."
              : whyNot("member", "create aliases")}
          </EmptyState>
        }
      >
        <ResourceTable
          label="Aliases, newest first"
          rows={data.items}
          idOf={({ aliasId }) => aliasId}
          columns={columnsOf(projectId, environment, choices.families)}
        />
      </ListCard>
    </>
  );
}

const columnsOf = (
  projectId: string,
  environment: string,
  families: readonly Family[],
): TableColumn<AliasShown>[] => [
  column.title("Alias", ({ aliasId, alias, adapter, current }) => (
    <Titled
      title={
        <RowLink href={aliasHref(projectId, alias, { environment })} id={aliasId}>
          {alias}
        </RowLink>
      }
    >
      <span>
        {adapter.displayName} · {familyWords(adapter.baseModelFamily, families)} · strength{" "}
        {weightWords(current.target.weight, adapter)}
      </span>
    </Titled>
  )),
  column.status(
    ({ adapter, binding }) => (
      <span className="flex flex-wrap gap-1">
        <FrozenBadge frozen={adapter.frozen} />
        <HealthBadge health={adapter.sourceHealth} />
        {binding && (
          <Badge title="The project's recipe is pinned to this version">
            Recipe at version {binding.number}
          </Badge>
        )}
      </span>
    ),
    "Health",
  ),
  { header: "Versions", align: "end", card: "fact", cell: ({ versionCount }) => versionCount },
  column.ago("Promoted", ({ current }) => current.createdAt),
];

type Props = { projectId: string; environment: string; onClose(): void };

/** A dialog that creates an alias for an adapter. */
function CreateAlias({ projectId, environment, onClose }: Props) {
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
