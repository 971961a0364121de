import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { ComparisonPage } from "@/components/comparisons/comparison-page";
import { comparisonHref } from "@/components/comparisons/list-state";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; comparisonId: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Comparison ${(await params).comparisonId}` };
}

export default async function Page({ params }: Props) {
  const { projectId, comparisonId } = await params;
  await requirePerson(comparisonHref(projectId, comparisonId));
  await panelRead(async ({ trpc, queryClient }) => {
    const [comparison] = await Promise.all([
      queryClient.fetchQuery(trpc.comparisons.get.queryOptions({ comparison_id: comparisonId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]);
    if (comparison.projectId !== projectId) notFound();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <ComparisonPage comparisonId={comparisonId} projectId={projectId} />
    </HydrationBoundary>
  );
}
