"use client";
import { useEffect, useState } from "react";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { JsonView } from "@/components/ui/json-view";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import type { Job, JobArtifactRef } from "@/server/contract/jobs";
import type { PanelApi } from "./api";

/** A job's progress and results. */
export function Outcome({
  api,
  job,
  hasEnded,
  showRouting,
}: {
  api: PanelApi;
  job: Job;
  hasEnded: boolean;
  showRouting: boolean;
}) {
  const { progress, error, typedOutput } = job;
  const text = (typedOutput as { text?: unknown } | null)?.text;
  return (
    <section aria-label="Run" className="space-y-3" data-job={job.status}>
      <p className="flex flex-wrap items-center gap-3 text-sm">
        <JobStatusBadge status={job.status} />
        {showRouting && <span className="text-xs text-muted">{job.diagnostics?.backendId}</span>}
        {!hasEnded && progress && (
          <span className="text-muted">{[progress.phase, progress.step].filter(Boolean).join(", ")}</span>
        )}
      </p>
      {!hasEnded && typeof progress?.percent === "number" && (
        <progress
          aria-label="Progress"
          max={100}
          value={progress.percent}
          className="h-1.5 w-full accent-primary"
        />
      )}
      {error && (
        <Notice tone="bad" role="alert" title={<code>{error.code}</code>}>
          {error.message}
        </Notice>
      )}
      {typeof text === "string" && (
        <p dir="auto" className="text-base whitespace-pre-wrap [overflow-wrap:anywhere]" data-text>
          {text}
        </p>
      )}
      {hasEnded && typeof text !== "string" && typedOutput !== null && job.artifacts.length === 0 && (
        <JsonView value={typedOutput} what="Output" />
      )}
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,14rem),1fr))] gap-4">
        {hasEnded && job.artifacts.map((each) => <File key={each.artifactId} api={api} artifact={each} />)}
      </div>
    </section>
  );
}

/** A file, fetched with the session's token, because its URL does not work without one. */
function File({ api, artifact }: { api: PanelApi; artifact: JobArtifactRef }) {
  const { downloadPath, mediaType, filename, label, artifactId } = artifact;
  const name = filename ?? label ?? artifactId;
  const [href, setHref] = useState<string | null>(null);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    if (downloadPath === null) return setMissing(true);
    let made: string | null = null;
    let isGone = false;
    api
      .blob(downloadPath)
      .then((blob) => {
        if (isGone) return;
        made = URL.createObjectURL(blob);
        setHref(made);
      })
      .catch(() => setMissing(true));
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [api, downloadPath]);
  if (isMissing)
    return <p className="text-sm text-muted">{name} could not be loaded. Reload the page to try again.</p>;
  if (!href) return <Skeleton className="h-40 w-full" />;
  const kind = mediaType.split("/")[0];
  return (
    <figure
      className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface"
      data-artifact={artifactId}
    >
      {/* SVG is offered as a download only: opened directly, it could run scripts. */}
      {kind === "image" && mediaType !== "image/svg+xml" && (
        // biome-ignore lint/performance/noImgElement: the bytes are already on this page
        <img src={href} alt={name} className="w-full object-contain" />
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: generated media has no captions */}
      {kind === "audio" && <audio controls src={href} aria-label={name} className="w-full" />}
      {/* biome-ignore lint/a11y/useMediaCaption: generated media has no captions */}
      {kind === "video" && <video controls src={href} aria-label={name} className="w-full" />}
      <figcaption className="truncate p-3 text-sm">
        <a href={href} download={name} className="text-link hover:underline">
          {name}
        </a>
      </figcaption>
    </figure>
  );
}
