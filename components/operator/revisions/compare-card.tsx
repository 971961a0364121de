"use client";
import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { DiffView } from "@/components/blocks/diff/diff-view";
import { ReadFailure } from "@/components/blocks/list/growing-list";
import { callerName } from "@/components/callers/caller-name";
import { useTRPC } from "@/components/trpc";
import { Badge, type Tone } from "@/components/ui/badge";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { Skeleton } from "@/components/ui/skeleton";
import type { RevisionHead } from "@/server/contract/dossiers";
import type { RequestRevision } from "@/server/contract/requests";
import { compare, type MemberChange } from "./compare";

/** Two revisions of a request side by side, member by member. The reader chooses which; the latest two by default. */
export function CompareCard({ requestId, revisions }: { requestId: string; revisions: RevisionHead[] }) {
  const [chosen, choose] = useState<{ older?: string; newer?: string }>({});
  const newer = revisions.find(({ id }) => id === chosen.newer) ?? revisions[0];
  const older =
    revisions.find(({ id }) => id === chosen.older) ??
    revisions.find(({ number }) => number < (newer?.number ?? 0)) ??
    revisions[1];
  if (!older || !newer) return null;
  const options = revisions.map(({ id, number, createdBy, author }, at): [string, string] => [
    id,
    `Revision ${number}${at === 0 ? " (current)" : ""}, ${callerName({ id: createdBy, name: author })}`,
  ]);
  return (
    <Card aria-labelledby="compare-title">
      <CardHeader title="Compare revisions" id="compare-title" />
      <CardBody className="space-y-4">
        <div className="grid gap-3 sm:grid-cols-2">
          <Choice
            label="From"
            options={options}
            value={older.id}
            onChange={(id) => choose({ ...chosen, older: id })}
          />
          <Choice
            label="To"
            options={options}
            value={newer.id}
            onChange={(id) => choose({ ...chosen, newer: id })}
          />
        </div>
        <Compared requestId={requestId} older={older} newer={newer} />
      </CardBody>
    </Card>
  );
}

function Compared({
  requestId,
  older,
  newer,
}: {
  requestId: string;
  older: RevisionHead;
  newer: RevisionHead;
}) {
  const trpc = useTRPC();
  // A revision never changes, so it is fetched once.
  const reads = useQueries({
    queries: [older, newer].map(({ id }) =>
      trpc.operator.revision.queryOptions(
        { requestId, revisionId: id },
        { staleTime: Number.POSITIVE_INFINITY },
      ),
    ),
  });
  const failed = reads.find(({ error }) => error);
  if (failed)
    return (
      <ReadFailure
        what="the revisions"
        error={failed.error}
        again={() => reads.map((read) => read.refetch())}
      />
    );
  const [before, after] = reads.map(({ data }) => data);
  if (!before || !after)
    return (
      <div aria-busy="true" className="space-y-2">
        <Skeleton className="h-4 w-1/3" />
        <Skeleton className="h-24 w-full" />
      </div>
    );
  if (before.id === after.id) return <Same>Choose two different revisions.</Same>;
  if (before.requestHash === after.requestHash) return <Same>Both revisions have the same content.</Same>;
  return <Members key={`${before.id} ${after.id}`} older={before} newer={after} />;
}

const Same = ({ children }: { children: string }) => <p className="text-sm text-muted">{children}</p>;

const CHANGES: Record<MemberChange["change"], { label: string; tone: Tone }> = {
  same: { label: "No change", tone: "neutral" },
  changed: { label: "Changed", tone: "busy" },
  added: { label: "Added", tone: "good" },
  removed: { label: "Removed", tone: "bad" },
};

function Members({ older, newer }: { older: RequestRevision; newer: RequestRevision }) {
  const members = useMemo(() => compare(older.content, newer.content), [older, newer]);
  return (
    <div className="space-y-4">
      {members.map((member) => (
        <section
          key={member.member}
          aria-label={member.label}
          data-member={member.member}
          className="min-w-0"
        >
          <h3 className="mb-1.5 flex flex-wrap items-center gap-2 text-sm font-semibold [overflow-wrap:anywhere]">
            {member.label}
            <Badge tone={CHANGES[member.change].tone}>{CHANGES[member.change].label}</Badge>
          </h3>
          {member.change !== "same" && (
            <DiffView
              rows={member.rows}
              isProse={member.isProse}
              caption={`${member.label}, revision ${older.number} and revision ${newer.number}`}
            />
          )}
        </section>
      ))}
    </div>
  );
}
