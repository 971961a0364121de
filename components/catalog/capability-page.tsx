"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/data/trpc";
import { Playground } from "@/components/playground/playground";
import { PageHeader } from "@/components/shell/page-header";
import { Badge } from "@/components/ui/badge";
import { CopyButton } from "@/components/ui/copy-button";
import { Described, MODE_LABEL, NeedsConnection } from "./words";

/** One capability: its description and a playground. */
export function CapabilityPage({ projectId, capabilityKey }: { projectId: string; capabilityKey: string }) {
  const trpc = useTRPC();
  const { data: capability } = useSuspenseQuery(
    trpc.catalog.describe.queryOptions({ project_id: projectId, capability_key: capabilityKey }),
  );
  const { data: entries } = useSuspenseQuery(trpc.catalog.list.queryOptions({ project_id: projectId }));
  const entry = entries.find(({ key }) => key === capabilityKey);
  return (
    <>
      <PageHeader
        back={{ href: `/projects/${projectId}/catalog`, label: "Catalog" }}
        title={capability.title}
      >
        <Described text={capability.description} />
      </PageHeader>
      <div className="mb-5 flex flex-wrap items-center gap-2 text-xs">
        <span className="inline-flex min-w-0 items-center gap-1">
          <code className="truncate">{capability.key}</code>
          <CopyButton text={capability.key} what="capability key" />
        </span>
        {entry?.runsNow === false && <NeedsConnection />}
        {capability.executionModes.map((mode) => (
          <Badge key={mode}>{MODE_LABEL[mode]}</Badge>
        ))}
        <Badge>{capability.output.mediaType}</Badge>
        <span className="text-muted">{capability.pricing.display}</span>
      </div>
      <Playground key={capability.key} projectId={projectId} capability={capability} />
    </>
  );
}
