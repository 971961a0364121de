"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { FileCheck, FileLock2, Plus } from "lucide-react";
import { useProject } from "@/components/blocks/data/use-project";
import { postCommand, Snippet } from "@/components/blocks/feedback/first-command";
import { ListCard } from "@/components/blocks/list/list-card";
import { type ListPlace, manifestHref, manifestsHref, toPageQuery } from "@/components/pins/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { CreateManifest } from "./create-manifest";

/** A project's manifests, newest first, with actions to create a manifest and check a lockfile. */
export function ManifestList({
  projectId,
  place,
  baseUrl,
}: {
  projectId: string;
  place: ListPlace;
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.provenance.manifests.queryOptions(toPageQuery(projectId, place)));
  const mayWrite = useProject(projectId).may("member");
  const isEmpty = data.items.length === 0 && !place.cursor;
  const make = mayWrite && (
    <CreateManifest
      projectId={projectId}
      trigger={
        <Button variant="primary">
          <Plus aria-hidden />
          Create manifest
        </Button>
      }
    />
  );
  return (
    <>
      <PageHeader
        title="Provenance"
        actions={
          <>
            <Button asChild>
              <Link href={`/projects/${projectId}/provenance/lockfile`}>
                <FileLock2 aria-hidden />
                Check lockfile
              </Link>
            </Button>
            {!isEmpty && make}
          </>
        }
      >
        Manifests are signed sets of receipts that anyone can verify independently.
      </PageHeader>
      <ListCard
        noun="manifests"
        page={data}
        state={place}
        hrefOf={(page) => manifestsHref(projectId, page)}
        first={
          <EmptyState icon={FileCheck} title="Create your first manifest" action={make}>
            <p>
              A manifest binds the receipts of an experiment or a report. Select them in the{" "}
              <Link href={`/projects/${projectId}/pinned`} className="text-link underline">
                pinned records
              </Link>
              , paste their ids here, or send them:
            </p>
            <Snippet
              what="command"
              code={postCommand(
                baseUrl,
                "/v1/provenance/manifests",
                `{
    "context": { "projectId": "${projectId}" },
    "label": "My experiment",
    "receiptIds": ["rcpt_…"]
  }`,
              )}
            />
          </EmptyState>
        }
      >
        <ul aria-label="Manifests, newest first" className="divide-y divide-line">
          {data.items.map((manifest) => (
            <li
              key={manifest.manifestId}
              className="relative flex flex-wrap items-center gap-x-5 gap-y-1 px-4 py-3 hover:bg-hover/60"
            >
              <div className="min-w-0 flex-1 basis-60 max-sm:basis-full">
                <Link
                  href={manifestHref(projectId, manifest.manifestId)}
                  className="block truncate rounded text-sm font-medium after:absolute after:inset-0 hover:underline"
                >
                  {manifest.label}
                </Link>
                <code className="block truncate text-xs text-muted" title={manifest.manifestId}>
                  {shortId(manifest.manifestId)}
                  {manifest.experimentHash && ` · ${manifest.experimentHash}`}
                </code>
              </div>
              <span className="text-sm text-muted tabular-nums">
                {manifest.receiptCount === 1
                  ? "1 receipt"
                  : `${manifest.receiptCount.toLocaleString("en-US")} receipts`}
              </span>
              <span className="w-24 text-right text-sm text-muted max-sm:w-auto max-sm:text-xs">
                <Ago at={manifest.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      </ListCard>
    </>
  );
}
