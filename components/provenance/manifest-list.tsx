"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { FileCheck, FileLock2, Plus } from "lucide-react";
import { useProject } from "@/components/blocks/data/use-project";
import { FirstCommand } from "@/components/blocks/feedback/first-command";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import {
  manifestHref,
  manifestsHref,
  type PinListPosition,
  toPinPageQuery,
} from "@/components/pins/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { ManifestListItem } from "@/server/contract/provenance";
import { CreateManifest } from "./create-manifest";

/** A project's manifests, newest first, with actions to create a manifest and check a lockfile. */
export function ManifestList({
  projectId,
  place,
  baseUrl,
}: {
  projectId: string;
  place: PinListPosition;
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.provenance.manifests.queryOptions(toPinPageQuery(projectId, place)));
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
      <ListTable
        noun="manifests"
        page={data}
        state={place}
        hrefOf={(page) => manifestsHref(projectId, page)}
        first={
          <FirstCommand
            icon={FileCheck}
            title="Create your first manifest"
            action={make}
            baseUrl={baseUrl}
            path="/v1/provenance/manifests"
            body={`{
    "context": { "projectId": "${projectId}" },
    "label": "My experiment",
    "receiptIds": ["rcpt_…"]
  }`}
          >
            A manifest binds the receipts of an experiment or a report. Select them in the{" "}
            <Link href={`/projects/${projectId}/pinned`} className="text-link underline">
              pinned records
            </Link>
            , paste their ids here, or send them:
          </FirstCommand>
        }
        label="Manifests, newest first"
        idOf={({ manifestId }) => manifestId}
        columns={columnsOf(projectId)}
      />
    </>
  );
}

const columnsOf = (projectId: string): TableColumn<ManifestListItem>[] => [
  column.title("Manifest", ({ manifestId: id, label, experimentHash }) => (
    <Titled
      title={
        <RowLink href={manifestHref(projectId, id)} id={id}>
          {label}
        </RowLink>
      }
    >
      <code title={id}>{shortId(id)}</code>
      {experimentHash && <code>{shortId(experimentHash)}</code>}
    </Titled>
  )),
  column.quiet("Receipts", ({ receiptCount }) => receiptCount.toLocaleString("en-US")),
  column.ago("Created", ({ createdAt }) => createdAt),
];
