"use client";
import { keepPreviousData, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { Search, SearchX } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState, ErrorState } from "@/components/ui/empty-state";
import { Input } from "@/components/ui/input";
import Link from "@/components/ui/link";
import type { AppRouter } from "@/server/trpc";
import { Described, FAMILY_LABEL, MODE_LABEL, NeedsConnection } from "./words";

type Entry = inferRouterOutputs<AppRouter>["catalog"]["list"][number];

/** The catalog grouped by family, or the search results while a query is typed. */
export function CatalogRoom({ projectId, initialQuery }: { projectId: string; initialQuery: string }) {
  const trpc = useTRPC();
  const [query, setQuery] = useState(initialQuery);
  const q = useDeferredValue(query.trim());
  const { data: all } = useSuspenseQuery(trpc.catalog.list.queryOptions({ project_id: projectId }));
  const search = useQuery({
    ...trpc.catalog.list.queryOptions({ project_id: projectId, q }),
    enabled: q !== "",
    placeholderData: keepPreviousData,
  });
  const found = q === "" ? all : (search.data ?? []);

  function type(text: string) {
    setQuery(text);
    // The query lives in the URL, so it can be bookmarked and shared; no page is loaded.
    const { pathname } = window.location;
    window.history.replaceState(
      null,
      "",
      text.trim() ? `${pathname}?${new URLSearchParams({ q: text.trim() })}` : pathname,
    );
  }

  return (
    <>
      <PageHeader title="Catalog">Search for a task or browse all capabilities.</PageHeader>
      <search aria-label="Search the catalog" className="relative mb-6 block max-w-xl">
        <Search aria-hidden className="pointer-events-none absolute top-3 left-3 size-4 text-muted" />
        <Input
          type="search"
          value={query}
          maxLength={500}
          aria-label="Search capabilities"
          placeholder="Read this article aloud"
          className="h-10 pl-9"
          onChange={({ target }) => type(target.value)}
        />
      </search>
      <p role="status" className="sr-only">
        {q === "" ? `${all.length} capabilities` : `${found.length} found`}
      </p>
      {search.error ? (
        <Card>
          <ErrorState title="Search failed">Try again in a moment.</ErrorState>
        </Card>
      ) : q === "" ? (
        families(all).map(([family, entries]) => (
          <section key={family} aria-labelledby={`family-${family}`} className="mb-7">
            <h2 id={`family-${family}`} className="mb-2.5 text-sm font-semibold text-muted">
              {family}
            </h2>
            <Entries projectId={projectId} entries={entries} />
          </section>
        ))
      ) : found.length === 0 && !search.isFetching ? (
        <Card>
          <EmptyState icon={SearchX} title="No matching capabilities">
            Try other words, or clear the search to see all capabilities.
          </EmptyState>
        </Card>
      ) : (
        <div
          aria-busy={search.isFetching}
          className={cn("transition-opacity", search.isPlaceholderData && "opacity-60")}
        >
          <Entries projectId={projectId} entries={found} />
        </div>
      )}
    </>
  );
}

/** Groups the entries by family, the largest family first. */
function families(entries: Entry[]): [string, Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = FAMILY_LABEL[entry.family] ?? entry.family;
    groups.set(name, [...(groups.get(name) ?? []), entry]);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}

function Entries({ projectId, entries }: { projectId: string; entries: Entry[] }) {
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,19rem),1fr))] gap-3 max-sm:gap-2">
      {entries.map((entry) => (
        <li
          key={entry.key}
          className="relative flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4 shadow-card transition-colors focus-within:border-focus hover:border-line-strong max-sm:gap-1 max-sm:px-3.5 max-sm:py-2.5"
        >
          <div className="flex items-start justify-between gap-2">
            <h3 className="text-base font-semibold max-sm:text-sm">
              <Link
                href={`/projects/${projectId}/catalog/${entry.key}`}
                className="outline-none after:absolute after:inset-0 after:rounded-lg focus-visible:after:outline-2 focus-visible:after:outline-focus"
              >
                {entry.title}
              </Link>
            </h3>
            {!entry.runsNow && <NeedsConnection />}
          </div>
          <code className="-mt-1.5 truncate text-2xs text-muted max-sm:hidden">{entry.key}</code>
          <p className="line-clamp-3 text-sm text-muted max-sm:line-clamp-2 max-sm:text-xs">
            <Described text={entry.description} />
          </p>
          <p className="mt-auto text-xs text-pretty text-faint">
            <span className="text-muted">{entry.price}</span>
            <span className="max-sm:hidden">
              {" · "}
              {entry.executionModes.map((mode) => MODE_LABEL[mode]).join(", ")}
            </span>
          </p>
        </li>
      ))}
    </ul>
  );
}
