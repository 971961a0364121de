"use client";
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { DiffView } from "@/components/blocks/diff/diff-view";
import { GrowingList, ReadFailure } from "@/components/blocks/list/growing-list";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { AUDIT_COLUMNS } from "@/components/callers/audit-columns";
import { callerName } from "@/components/callers/caller-name";
import { useTRPC } from "@/components/data/trpc";
import { EventList } from "@/components/requests/event-list";
import { RequestStatusBadge } from "@/components/requests/request-status";
import { CurrentWording, requestTitle } from "@/components/requests/wording";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { Badge, type Tone } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts, HashFact } from "@/components/ui/facts";
import { Skeleton } from "@/components/ui/skeleton";
import type { AuditEntry } from "@/server/contract/audit";
import type { RequestDossier, RevisionHead } from "@/server/contract/dossiers";
import type { RequestRevision } from "@/server/contract/requests";
import { Acts, refundOfDossier } from "./acts";
import { QuoteList } from "./quote-list";
import { compareRevisions, type MemberChange } from "./revisions/compare";

const LOOK_AGAIN_MS = 10_000;
/** The polling interval while a refund is in progress, which takes a moment. */
const LOOK_SOON_MS = 2_000;

/** One request for an operator: its content, revisions, history and possible actions. */
export function RequestRoom({ requestId }: { requestId: string }) {
  const { data: dossier } = useLive(
    useTRPC().operator.request.queryOptions({ request_id: requestId }),
    (read) => (isReturning(read) ? LOOK_SOON_MS : LOOK_AGAIN_MS),
  );
  const { request, revisions } = dossier;
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-6 outline-none sm:px-6">
      <PageHeader
        back={{ href: "/operator/requests", label: "Capability requests" }}
        title={requestTitle(request.revision.content)}
        badge={<RequestStatusBadge status={request.status} refund={refundOfDossier(dossier)} />}
      >
        {dossier.organizationName}, {dossier.projectName}
      </PageHeader>
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="grid min-w-0 grid-cols-1 gap-5 lg:order-last">
          <Acts dossier={dossier} />
          <QuoteList quotes={dossier.quotes} revisions={revisions} />
          <Details dossier={dossier} />
        </div>
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <CurrentWording revision={request.revision} />
          {revisions.length > 1 && <CompareCard requestId={request.id} revisions={revisions} />}
          <EventList events={dossier.events} />
          <AuditCard requestId={request.id} />
        </div>
      </div>
    </main>
  );
}

function isReturning(dossier: RequestDossier): boolean {
  const refund = refundOfDossier(dossier);
  return dossier.request.status !== "refunded" && (refund === "pending" || refund === "done");
}

function Details({
  dossier: { request, author, organizationName, projectName },
}: {
  dossier: RequestDossier;
}) {
  return (
    <Section title="Details" id="details-title">
      <Facts>
        <Fact name="Request">
          <CopyableId id={request.id} what="request id" short />
        </Fact>
        <Fact name="Organization">
          {organizationName} <CopyableId id={request.organizationId} what="organization id" short />
        </Fact>
        <Fact name="Project">
          {projectName} <CopyableId id={request.projectId} what="project id" short />
        </Fact>
        <Fact name="Filed by">{callerName({ id: request.createdBy, name: author })}</Fact>
        <Fact name="Filed">
          <Moment at={request.createdAt} />
        </Fact>
        <Fact name="Submitted">{request.submittedAt && <Moment at={request.submittedAt} />}</Fact>
        <Fact name="Shipped">{request.fulfilledAt && <Moment at={request.fulfilledAt} />}</Fact>
        <Fact name="Capability">{request.capabilityKey && <code>{request.capabilityKey}</code>}</Fact>
        <HashFact name="Hash" hash={request.requestHash} />
      </Facts>
    </Section>
  );
}

const AUDIT_AGAIN_MS = 15_000;

/** The audit log of a request and its payments. */
function AuditCard({ requestId }: { requestId: string }) {
  const trpc = useTRPC();
  const audit = useInfiniteQuery({
    ...trpc.operator.audit.infiniteQueryOptions(
      { request_id: requestId },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
    refetchInterval: AUDIT_AGAIN_MS,
  });
  const entries = audit.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Section title="Audit log" hint="Newest first" aria-busy={audit.isPending} isFlush>
      <GrowingList what="the audit log" query={audit} rows={entries} empty="No entries yet.">
        {(rows) => (
          <ResourceTable
            label="Audit log, newest first"
            rows={rows}
            idOf={({ entryId }) => entryId}
            marks={({ action }) => ({ "data-action": action })}
            columns={COLUMNS}
          />
        )}
      </GrowingList>
    </Section>
  );
}

const COLUMNS: TableColumn<AuditEntry>[] = [
  AUDIT_COLUMNS.action,
  AUDIT_COLUMNS.actor,
  { header: "Address", className: "font-mono text-xs", cell: ({ address }) => address ?? "–" },
  AUDIT_COLUMNS.time,
];

/** Two revisions of a request side by side, member by member. The reader chooses which; the latest two by default. */
function CompareCard({ requestId, revisions }: { requestId: string; revisions: RevisionHead[] }) {
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
    <Section title="Compare revisions" id="compare-title" bodyClassName="space-y-4">
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
    </Section>
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
  const members = useMemo(() => compareRevisions(older.content, newer.content), [older, newer]);
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
