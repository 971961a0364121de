"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Blend, Plus } from "lucide-react";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { useProject } from "@/components/blocks/data/use-project";
import { column } from "@/components/blocks/list/columns";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { ModelAdapter } from "@/server/contract/adapters";
import { SOURCE_HEALTHS } from "@/server/contract/enums";
import {
  type AdapterListState,
  adapterHref,
  adaptersHref,
  environmentOf,
  hasFilter,
  newAdapterHref,
  toAdaptersQuery,
} from "./list-state";
import { RoomHeader } from "./room-header";
import {
  type Family,
  FrozenBadge,
  familyWords,
  HEALTH_LOOK,
  HealthBadge,
  licenseWords,
  sourceWords,
} from "./words";

const MOST_WORDS = 3;

/** The adapters of an environment, newest first. */
export function AdapterList({ projectId, state }: { projectId: string; state: AdapterListState }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.adapters.list.queryOptions(toAdaptersQuery(projectId, state)));
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const environment = environmentOf(state);
  const isFiltered = hasFilter(state);
  const hrefOf = (next: AdapterListState) => adaptersHref(projectId, next);
  const families = choices.families.map(({ name, title }) => ({ value: name, label: title }));
  const isEmpty = data.items.length === 0 && !state.cursor;
  const add = mayWrite && (
    <Button asChild variant="primary">
      <Link href={newAdapterHref(projectId, environment)}>
        <Plus aria-hidden />
        Add adapter
      </Link>
    </Button>
  );
  return (
    <>
      <RoomHeader
        projectId={projectId}
        room="adapters"
        environment={environment}
        actions={!(isEmpty && !isFiltered) && add}
      />
      {!(isEmpty && !isFiltered) && (
        <FilterBar
          label="Find adapters"
          className="mb-4"
          state={state}
          hrefOf={hrefOf}
          fields={[
            {
              name: "q",
              label: "Name, alias, trigger word or source",
              longest: 200,
              className: "min-w-0 flex-1 basis-60 max-sm:basis-full",
            },
            { name: "family", label: "Base model", any: "Any base model", options: families },
            { name: "health", label: "Health", any: "Any health", options: HEALTHS },
          ]}
        />
      )}
      <ListCard
        noun="adapters"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({ environment })}
        isFiltered={isFiltered}
        first={
          <EmptyState icon={Blend} title={`No adapters in ${environment} yet`} action={add}>
            {mayWrite
              ? "Upload a .safetensors file or paste a Hugging Face link. Image requests can then use the adapter."
              : whyNot("member", "add adapters")}
          </EmptyState>
        }
      >
        <ResourceTable
          label="Adapters, newest first"
          rows={data.items}
          idOf={({ adapterId }) => adapterId}
          columns={columnsOf(projectId, choices.families)}
        />
      </ListCard>
    </>
  );
}

const HEALTHS = SOURCE_HEALTHS.map((value) => ({ value, label: HEALTH_LOOK[value].label }));

const columnsOf = (projectId: string, families: readonly Family[]): TableColumn<ModelAdapter>[] => [
  column.title("Adapter", ({ adapterId, displayName, baseModelFamily, source }) => (
    <Titled
      title={
        <RowLink href={adapterHref(projectId, adapterId)} id={adapterId}>
          {displayName}
        </RowLink>
      }
    >
      <span>
        {familyWords(baseModelFamily, families)} · {sourceWords(source)}
      </span>
    </Titled>
  )),
  { header: "Aliases and trigger words", cell: (adapter) => <Names adapter={adapter} /> },
  {
    header: "License",
    card: "hidden",
    className: "text-muted",
    cell: (adapter) => (
      <>
        {licenseWords(adapter)}
        <span className="block text-xs">
          {adapter.source.byteLength === null ? "Size unknown" : formatBytes(adapter.source.byteLength)}
        </span>
      </>
    ),
  },
  column.status(
    ({ frozen, sourceHealth }) => (
      <span className="flex flex-wrap gap-1">
        <FrozenBadge frozen={frozen} />
        <HealthBadge health={sourceHealth} />
      </span>
    ),
    "Health",
  ),
  {
    header: "Checked",
    align: "end",
    card: "hidden",
    className: "text-muted",
    cell: ({ sourceHealth: { checkedAt } }) => (checkedAt ? <Ago at={checkedAt} /> : "Never"),
  },
];

function Names({ adapter: { aliases, triggerWords } }: { adapter: ModelAdapter }) {
  const more = triggerWords.length - MOST_WORDS;
  if (aliases.length + triggerWords.length === 0) return null;
  return (
    <span className="flex flex-wrap gap-1">
      {aliases.map((alias) => (
        <Badge key={alias} tone="busy" title="Alias">
          <span className="truncate">{alias}</span>
        </Badge>
      ))}
      {triggerWords.slice(0, MOST_WORDS).map((word) => (
        <Badge key={word} title="Trigger word">
          <span className="truncate">{word}</span>
        </Badge>
      ))}
      {more > 0 && <Badge title={triggerWords.slice(MOST_WORDS).join(", ")}>+{more}</Badge>}
    </span>
  );
}
