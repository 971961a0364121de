"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight, Plus, Tag } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { Ago } from "@/components/time/moment";
import { useRole, useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import { CreateAlias } from "./create-alias";
import { weightWords } from "./diff";
import { aliasesHref, aliasHref, environmentOf, type PageState, toPageQuery } from "./list-state";
import { RoomHeader } from "./room-header";
import { FrozenBadge, familyWords, HealthBadge } from "./words";

/** The aliases of an environment, newest first, each with its current adapter. */
export function AliasList({ projectId, state }: { projectId: string; state: PageState }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.adapters.aliases.queryOptions(toPageQuery(projectId, state)));
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const { role, mayWrite } = useRole(projectId);
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
      {mayWrite && (
        <CreateAlias
          projectId={projectId}
          environment={environment}
          isOpen={isCreating}
          onOpenChange={setCreating}
        />
      )}
      <div className="space-y-4">
        <Card className="overflow-hidden">
          {isEmpty && (
            <EmptyState icon={Tag} title={`No aliases in ${environment} yet`} action={create}>
              {mayWrite
                ? "Requests use an alias instead of a specific adapter, so you can promote better weights without changing those requests."
                : `Members of your organization can create aliases. Your role here is ${role}.`}
            </EmptyState>
          )}
          {data.items.length > 0 && (
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
                      {adapter.sourceHealth.status !== "healthy" && (
                        <HealthBadge health={adapter.sourceHealth} />
                      )}
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
          )}
          {data.items.length === 0 && state.cursor && <EndOfList />}
        </Card>
        <Pagination
          label="Pages of aliases"
          state={state}
          nextCursor={data.nextCursor}
          hrefOf={(page) => aliasesHref(projectId, page)}
        />
      </div>
    </>
  );
}
