"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, Download } from "lucide-react";
import type { CSSProperties } from "react";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { CHECKERBOARD } from "@/components/artifacts/picture-frame";
import { ArtifactViewer, isPicture } from "@/components/artifacts/viewer";
import { useAction } from "@/components/blocks/data/use-action";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CardBody, Section } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { toast } from "@/components/ui/toaster";
import type { Job, JobArtifactRef } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";
import { PrivateContent } from "./job-content";

/** The panel's own URL of an artifact, readable with the reader's session and without a key. */
export function artifactHref(jobId: string, artifactId: string): string {
  return `/artifacts/${jobId}/${artifactId}`;
}

export function ArtifactGallery({ job }: { job: Job }) {
  if (job.artifacts.length === 0) return null;
  const variants = job.variantSet;
  const cells = job.artifacts.filter((artifact) => artifact.sliceCellId !== null);
  const others = job.artifacts.filter((artifact) => artifact.sliceCellId === null);
  const isAlone = others.length === 1;
  return (
    <Section
      title="Artifacts"
      hint={
        variants && cells.length > 0
          ? `Sheet of ${cells.length} cells`
          : variants &&
            `${variants.completedCount} of ${variants.requestedCount} variants${variants.failedCount ? `, ${variants.failedCount} failed` : ""}`
      }
      isFlush
    >
      <PrivateContent job={job}>
        <CardBody
          className={isAlone ? "p-0" : "grid grid-cols-[repeat(auto-fill,minmax(min(100%,14rem),1fr))] gap-4"}
        >
          {others.map((artifact) => (
            <ArtifactTile key={artifact.artifactId} job={job} artifact={artifact} isAlone={isAlone} />
          ))}
        </CardBody>
        {cells.length > 0 && <SheetCells job={job} cells={cells} />}
      </PrivateContent>
    </Section>
  );
}

/** The sheet's column count: the highest column in its cell ids, such as 3 in `r2c3`. */
function columnsOf(cells: JobArtifactRef[]): number {
  const counts = cells.map(({ sliceCellId }) => Number(/c(\d+)$/.exec(sliceCellId ?? "")?.[1] ?? 1));
  return Math.max(...counts);
}

/** A job's images without the cells of a sheet, to compare side by side. */
const picturesOf = (job: Job) =>
  job.artifacts
    .filter(({ mediaType, sliceCellId }) => isPicture(mediaType) && sliceCellId === null)
    .map((artifact) => ({ href: artifactHref(job.jobId, artifact.artifactId), name: nameOf(artifact) }));

const nameOf = ({ filename, label, artifactId }: JobArtifactRef) => filename ?? label ?? artifactId;

/** A sheet's cells in their layout, or wrapped if there is no room. */
function SheetCells({ job, cells }: { job: Job; cells: JobArtifactRef[] }) {
  return (
    <section aria-labelledby="cells-title" className="border-t border-line p-4">
      <h3 id="cells-title" className="mb-3 text-xs font-medium text-muted">
        Cells
      </h3>
      <ul
        className="grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-3 md:grid-cols-[repeat(var(--columns),minmax(0,1fr))]"
        style={{ "--columns": columnsOf(cells) } as CSSProperties}
      >
        {cells.map((cell) => (
          <SheetCell key={cell.artifactId} job={job} cell={cell} />
        ))}
      </ul>
    </section>
  );
}

function SheetCell({ job, cell }: { job: Job; cell: JobArtifactRef }) {
  const href = artifactHref(job.jobId, cell.artifactId);
  const name = cell.label ?? cell.sliceCellId ?? cell.artifactId;
  const isEmpty = cell.slotStatus === "empty";
  return (
    <li className="min-w-0">
      <figure>
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          className={`block aspect-square overflow-hidden rounded-md border border-line ${CHECKERBOARD}`}
        >
          {/* biome-ignore lint/performance/noImgElement: shown as stored, behind the reader's session, never through an optimizer */}
          <img src={href} alt={`Cell ${name}`} loading="lazy" className="size-full object-contain" />
        </a>
        <figcaption className="mt-1.5 flex min-w-0 items-center gap-1 text-xs">
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium" title={name}>
              {name}
            </span>
            <span className="block truncate text-2xs text-muted">
              {isEmpty ? "Empty cell" : cell.sliceCellId}
            </span>
          </span>
          <a
            href={href}
            download={cell.filename ?? name}
            aria-label={`Download ${cell.filename ?? name}`}
            className="grid size-8 shrink-0 place-items-center rounded text-muted hover:bg-sunken hover:text-text"
          >
            <Download aria-hidden className="size-4" />
          </a>
        </figcaption>
      </figure>
    </li>
  );
}

function ArtifactTile({ job, artifact, isAlone }: { job: Job; artifact: JobArtifactRef; isAlone: boolean }) {
  const href = artifactHref(job.jobId, artifact.artifactId);
  const name = nameOf(artifact);
  const isSelected = job.selectedArtifactId === artifact.artifactId;
  const canSelect = job.status === "succeeded" && artifact.variantIndex !== null && job.artifacts.length > 1;
  const isUnprocessed = artifact.slotStatus === "unprocessed";
  return (
    <figure
      className={cn(
        "flex min-w-0 flex-col overflow-hidden bg-surface",
        !isAlone && "rounded-lg border border-line",
      )}
    >
      <ArtifactViewer artifact={{ ...artifact, href, name }} beside={picturesOf(job)} isAlone={isAlone} />
      <figcaption className="flex flex-1 flex-col gap-2 border-t border-line p-3 text-xs">
        <div className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 flex-1 truncate text-sm font-medium" title={name}>
            {name}
          </span>
          {isSelected && (
            <Badge tone="good">
              <CircleCheck aria-hidden />
              Selected
            </Badge>
          )}
        </div>
        <div className="text-muted tabular-nums">
          {[
            artifact.mediaType,
            artifact.byteLength !== null && formatBytes(artifact.byteLength),
            isUnprocessed && "unprocessed",
          ]
            .filter(Boolean)
            .join(" · ")}
        </div>
        <div className="mt-auto flex gap-2 pt-1">
          <Button asChild size="sm" className={isAlone ? undefined : "flex-1"}>
            <a href={href} download={name}>
              <Download aria-hidden />
              Download
            </a>
          </Button>
          {canSelect && !isSelected && (
            <SelectVariantButton job={job} artifactId={artifact.artifactId} name={name} />
          )}
        </div>
      </figcaption>
    </figure>
  );
}

function SelectVariantButton({ job, artifactId, name }: { job: Job; artifactId: string; name: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const select = useAction(trpc.jobs.selectVariant.mutationOptions(), {
    onDone: (fresh) => {
      queryClient.setQueryData(trpc.jobs.get.queryKey({ job_id: job.jobId }), fresh);
      toast.success("Variant selected");
      return Promise.all([
        queryClient.invalidateQueries({ queryKey: trpc.jobs.pathKey() }),
        queryClient.invalidateQueries({ queryKey: eventsKey(job.jobId) }),
      ]);
    },
  });
  return (
    <Button
      size="sm"
      className="flex-1"
      pending={select.isPending}
      aria-label={`Select ${name}`}
      onClick={() => select.mutate({ job_id: job.jobId, artifactId })}
    >
      Select
    </Button>
  );
}
