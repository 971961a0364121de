"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Clock, Ticket } from "lucide-react";
import { TEST_MONEY } from "@/components/billing/test-money";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { dollars } from "@/components/blocks/money/money";
import { defineStatus, LookBadge } from "@/components/blocks/status/status";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { cn } from "@/components/ui/class-names";
import { CopyableId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import type { EmbedDefinition, EmbedSession } from "@/server/contract/embeds";
import { hasFilter, type SessionState, sessionsHref, toSessionsQuery } from "./list-state";

const LIVE_MS = 10_000;

type Props = { projectId: string; state: SessionState };
type Panels = ReadonlyMap<string, EmbedDefinition>;

/** The sessions of a project's embeds, newest first, with subject, origin and usage. */
export function SessionList({ projectId, state }: Props) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.embeds.sessions.queryOptions(toSessionsQuery(projectId, state)), LIVE_MS);
  const { data: definitions } = useSuspenseQuery(
    trpc.embeds.definitions.queryOptions({ project_id: projectId }),
  );
  const mayWrite = useProject(projectId).may("member");
  const panels = new Map(definitions.map((definition) => [definition.id, definition]));
  const embeds = definitions.map(({ id, displayName }) => ({ value: id, label: displayName }));
  const isFiltered = hasFilter(state);
  if (definitions.length === 0 && data.items.length === 0 && !isFiltered && !state.cursor) return null;
  const hrefOf = (next: SessionState) => sessionsHref(projectId, next);

  return (
    <section aria-labelledby="sessions-title" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 id="sessions-title" className="flex-1 text-lg font-semibold">
          Sessions
        </h2>
        <FilterBar
          label="Filter sessions"
          state={state}
          hrefOf={hrefOf}
          fields={[
            { name: "subject", label: "Subject", longest: 255 },
            { name: "status", label: "Status", any: "Any status", options: SESSION_STATUS_OPTIONS },
            ...(definitions.length > 1
              ? [{ name: "panel", label: "Embed", any: "Any embed", options: embeds } as const]
              : []),
          ]}
        />
      </div>
      <ListCard
        noun="sessions"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={isFiltered}
        first={
          <EmptyState icon={Ticket} title="No sessions yet">
            Your server creates one for each visitor. Sessions appear here with their usage.
          </EmptyState>
        }
      >
        <ResourceTable
          label="Embed sessions, newest first"
          rows={data.items}
          idOf={({ sessionId }) => sessionId}
          marks={({ sessionId }) => ({ "data-session": sessionId })}
          columns={columnsOf(panels)}
          actions={mayWrite ? (session) => <Revoke session={session} /> : undefined}
        />
      </ListCard>
    </section>
  );
}

const { StatusBadge, options: SESSION_STATUS_OPTIONS } = defineStatus({
  active: { label: "Active", icon: CircleCheck, tone: "good" },
  expired: { label: "Expired", icon: Clock },
  revoked: { label: "Revoked", icon: Ban },
});

const columnsOf = (panels: Panels): TableColumn<EmbedSession>[] => [
  {
    header: "Status",
    card: "status",
    cell: (session) => <SessionStatus session={session} panels={panels} />,
  },
  {
    header: "Subject",
    card: "title",
    className: "max-w-44",
    cell: (session) => <Subject session={session} />,
  },
  {
    header: "Embed and origin",
    className: "max-w-52 text-muted",
    cell: (session) => (
      <>
        <span className="block truncate" title={panelOf(session, panels)}>
          {panelOf(session, panels)}
        </span>
        <span className="block truncate text-xs" title={session.allowedOrigins.join("\n")}>
          {originsOf(session)}
        </span>
      </>
    ),
  },
  {
    header: "Spent",
    align: "end",
    card: "fact",
    className: "whitespace-nowrap",
    cell: (session) => <Spent session={session} />,
  },
  { header: "Jobs", align: "end", card: "fact", className: "whitespace-nowrap", cell: jobsOf },
  {
    header: "Ends",
    card: "fact",
    className: "whitespace-nowrap text-muted",
    cell: ({ status, expiresAt, revokedAt }) => <Ago at={(status === "revoked" && revokedAt) || expiresAt} />,
  },
];

const panelOf = ({ panelDefinitionId, panelDefinitionVersion }: EmbedSession, panels: Panels) =>
  panelDefinitionId
    ? `${panels.get(panelDefinitionId)?.displayName ?? panelDefinitionId}, version ${panelDefinitionVersion}`
    : "No embed";

const originsOf = ({ allowedOrigins }: EmbedSession) =>
  allowedOrigins.length > 1
    ? `${allowedOrigins[0]} and ${allowedOrigins.length - 1} more`
    : allowedOrigins[0];

const jobsOf = ({ admittedJobs, maxJobs }: EmbedSession) => `${admittedJobs} of ${maxJobs}`;

function Subject({ session: { externalSubject, sessionId } }: { session: EmbedSession }) {
  return (
    <>
      <span
        className={cn("block truncate", externalSubject ? "font-medium" : "text-muted")}
        title={externalSubject ?? undefined}
      >
        {externalSubject ?? "No subject"}
      </span>
      <CopyableId id={sessionId} what="session id" short />
    </>
  );
}

function Spent({ session: { spentMicros, testSpentMicros, maxSpendMicros } }: { session: EmbedSession }) {
  return (
    <span className="tabular-nums">
      {dollars(spentMicros)} of {dollars(maxSpendMicros)}
      {testSpentMicros > 0 && (
        <span className="block text-xs text-muted">
          {dollars(testSpentMicros)} of {TEST_MONEY}
        </span>
      )}
    </span>
  );
}

function SessionStatus({ session, panels }: { session: EmbedSession; panels: Panels }) {
  const { status, panelDefinitionId } = session;
  const panel = panelDefinitionId ? panels.get(panelDefinitionId) : undefined;
  if (status === "active" && panel && panel.status !== "active")
    return <LookBadge look={{ label: `Embed ${panel.status}`, icon: Ban, tone: "warn" }} />;
  return <StatusBadge status={status} />;
}

function Revoke({ session }: { session: EmbedSession }) {
  const trpc = useTRPC();
  const revoke = useAction(trpc.embeds.revokeSession.mutationOptions(), {
    done: "Session revoked",
    refresh: [trpc.embeds.pathKey()],
  });
  if (session.status !== "active") return null;
  const name = session.externalSubject ?? session.sessionId;
  return (
    <ConfirmAction
      label="Revoke"
      title={`Revoke the session “${name}”?`}
      description="The session is refused from its next request. Jobs it started continue. This cannot be undone."
      action="Revoke session"
      onConfirm={() => revoke.mutate({ session_id: session.sessionId })}
      size="sm"
      pending={revoke.isPending}
      aria-label={`Revoke ${name}`}
    />
  );
}
