"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Blend, ChevronRight, Plus } from "lucide-react";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { useProject } from "@/components/blocks/data/use-project";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { ModelAdapter } from "@/server/contract/adapters";
import { SOURCE_HEALTHS } from "@/server/contract/enums";
import {
  adapterHref,
  adaptersHref,
  environmentOf,
  hasFilter,
  type ListState,
  newAdapterHref,
  toAdaptersQuery,
} from "./list-state";
import { RoomHeader } from "./room-header";
import {
  CheckedAt,
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
export function AdapterList({ projectId, state }: { projectId: string; state: ListState }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.adapters.list.queryOptions(toAdaptersQuery(projectId, state)));
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const environment = environmentOf(state);
  const isFiltered = hasFilter(state);
  const hrefOf = (next: ListState) => adaptersHref(projectId, next);
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
        <ul aria-label="Adapters, newest first" className="divide-y divide-line">
          {data.items.map((adapter) => (
            <AdapterRow
              key={adapter.adapterId}
              projectId={projectId}
              adapter={adapter}
              families={choices.families}
            />
          ))}
        </ul>
      </ListCard>
    </>
  );
}

const HEALTHS = SOURCE_HEALTHS.map((value) => ({ value, label: HEALTH_LOOK[value].label }));

function AdapterRow({
  projectId,
  adapter,
  families,
}: {
  projectId: string;
  adapter: ModelAdapter;
  families: readonly Family[];
}) {
  const { source, sourceHealth, triggerWords, aliases } = adapter;
  const more = triggerWords.length - MOST_WORDS;
  return (
    <li className="relative flex items-center gap-4 px-4 py-3 hover:bg-hover/60">
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-5 gap-y-2">
        <div className="min-w-0 flex-1 basis-72 max-sm:basis-full">
          <Link
            href={adapterHref(projectId, adapter.adapterId)}
            className="block truncate rounded text-sm font-medium after:absolute after:inset-0 hover:underline"
          >
            {adapter.displayName}
          </Link>
          <p className="truncate text-xs text-muted">
            {familyWords(adapter.baseModelFamily, families)} · {sourceWords(source)}
          </p>
          {(aliases.length > 0 || triggerWords.length > 0) && (
            <p className="mt-1.5 flex flex-wrap gap-1">
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
            </p>
          )}
        </div>
        <div className="flex min-w-0 flex-wrap gap-x-3 text-xs text-muted sm:block sm:w-44">
          <p className="truncate" title={licenseWords(adapter)}>
            {licenseWords(adapter)}
          </p>
          <p className="tabular-nums">
            {source.byteLength === null ? "Size unknown" : formatBytes(source.byteLength)}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 sm:w-36 sm:flex-col sm:items-end">
          <span className="flex flex-wrap justify-end gap-1">
            <FrozenBadge frozen={adapter.frozen} />
            <HealthBadge health={sourceHealth} />
          </span>
          <span className="text-xs text-muted">
            <CheckedAt health={sourceHealth} />
          </span>
        </div>
      </div>
      <ChevronRight aria-hidden className="size-4 shrink-0 text-muted sm:hidden" />
    </li>
  );
}
