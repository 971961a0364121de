"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight, Plus, Tag } from "lucide-react";
import { useState } from "react";
import {
  aliasesHref,
  aliasHref,
  environmentOf,
  type PageState,
  toPageQuery,
} from "@/components/adapters/list-state";
import { RoomHeader } from "@/components/adapters/room-header";
import { FrozenBadge, familyWords, HealthBadge } from "@/components/adapters/words";
import { useProject } from "@/components/blocks/data/use-project";
import { ListCard } from "@/components/blocks/list/list-card";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { CreateAlias } from "./create-alias";
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
        <ul aria-label="Aliases, newest first" className="divide-y divide-line">
          {data.items.map(({ aliasId, alias, adapter, current, versionCount, binding }) => (
            <li key={aliasId} className="relative flex items-center gap-4 px-4 py-3 hover:bg-hover/60">
              <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-5 gap-y-1.5">
                <div className="min-w-0 flex-1 basis-72 max-sm:basis-full">
                  <Link
                    href={aliasHref(projectId, alias, { environment })}
                    className="block truncate rounded text-sm font-medium after:absolute after:inset-0 hover:underline"
                  >
                    {alias}
                  </Link>
                  <p className="truncate text-xs text-muted">
                    {adapter.displayName} · {familyWords(adapter.baseModelFamily, choices.families)} ·
                    strength {weightWords(current.target.weight, adapter)}
                  </p>
                </div>
                <span className="flex flex-wrap gap-1">
                  <FrozenBadge frozen={adapter.frozen} />
                  {adapter.sourceHealth.status !== "healthy" && <HealthBadge health={adapter.sourceHealth} />}
                  {binding && (
                    <Badge title="The project's recipe is pinned to this version">
                      Recipe at version {binding.number}
                    </Badge>
                  )}
                </span>
                <span className="text-sm tabular-nums sm:w-24 sm:text-right">
                  {versionCount === 1 ? "1 version" : `${versionCount} versions`}
                </span>
                <span className="text-sm text-muted sm:w-20 sm:text-right" title="Last promoted">
                  <Ago at={current.createdAt} />
                </span>
              </div>
              <ChevronRight aria-hidden className="size-4 shrink-0 text-muted sm:hidden" />
            </li>
          ))}
        </ul>
      </ListCard>
    </>
  );
}
