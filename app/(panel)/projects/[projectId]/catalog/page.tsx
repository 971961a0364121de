import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { CatalogRoom } from "@/components/catalog/catalog-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Catalog" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function CatalogPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const { q } = await searchParams;
  const query = typeof q === "string" ? q.trim().slice(0, 500) : "";
  await requirePerson(`/projects/${projectId}/catalog${query && `?${new URLSearchParams({ q: query })}`}`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.catalog.list.queryOptions({ project_id: projectId })),
      query
        ? queryClient.fetchQuery(trpc.catalog.list.queryOptions({ project_id: projectId, q: query }))
        : null,
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <CatalogRoom projectId={projectId} initialQuery={query} />
    </HydrationBoundary>
  );
}
