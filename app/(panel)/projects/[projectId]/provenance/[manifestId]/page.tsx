import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { manifestHref } from "@/components/pins/list-state";
import { ManifestPage } from "@/components/provenance/manifest-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; manifestId: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Manifest ${(await params).manifestId}` };
}

export default async function Page({ params }: Props) {
  const { projectId, manifestId } = await params;
  await requirePerson(manifestHref(projectId, manifestId));
  await panelRead(async ({ trpc, queryClient }) => {
    const manifest = await queryClient.fetchQuery(
      trpc.provenance.manifest.queryOptions({ manifest_id: manifestId }),
    );
    if (manifest.projectId !== projectId) notFound();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <ManifestPage projectId={projectId} manifestId={manifestId} />
    </HydrationBoundary>
  );
}
