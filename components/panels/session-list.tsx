"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Clock, SearchX, Ticket } from "lucide-react";
import Link from "next/link";
import { toast } from "sonner";
import { TEST_MONEY } from "@/components/billing/test-money";
import { formatUsd } from "@/components/jobs/format-usd";
import { Ago } from "@/components/time/moment";
import { useRole, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { CopyableId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { Input } from "@/components/ui/input";
import { Pagination } from "@/components/ui/pagination";
import { FIRST_PAGE } from "@/components/ui/paging";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { useAddress } from "@/components/ui/use-address";
import { useMutation } from "@/components/use-mutation";
import { type PanelDefinition, type PanelSession, PanelSessionStatus } from "@/server/contract/panels";
import { type SessionState, sessionsHref, toSessionsQuery } from "./list-state";

const LIVE_MS = 10_000;
const ANY = "any"; // a select cannot hold an empty value

type Props = { projectId: string; state: SessionState };
type Panels = ReadonlyMap<string, PanelDefinition>;

/** The sessions of a project's embeds, newest first, with subject, origin and usage. */
export function SessionList({ projectId, state }: Props) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.panels.sessions.queryOptions(toSessionsQuery(projectId, state)),
    refetchInterval: LIVE_MS,
  });
  const { data: definitions } = useSuspenseQuery(
    trpc.panels.definitions.queryOptions({ project_id: projectId }),
  );
  const { mayWrite } = useRole(projectId);
  const panels = new Map(definitions.map((definition) => [definition.id, definition]));
  const isFiltered = Boolean(state.panel || state.status || state.subject || state.cursor);
  if (definitions.length === 0 && data.items.length === 0 && !isFiltered) return null;

  return (
    <section aria-labelledby="sessions-title" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 id="sessions-title" className="flex-1 text-lg font-semibold">
          Sessions
        </h2>
        <SessionFilters projectId={projectId} state={state} definitions={definitions} />
      </div>
      <Card className="overflow-hidden">
        {data.items.length === 0 ? (
          <EmptyState
            icon={isFiltered ? SearchX : Ticket}
            title={isFiltered ? "No matching sessions" : "No sessions yet"}
            action={
              isFiltered && (
                <Button asChild>
                  <Link href={sessionsHref(projectId, {})}>Show all sessions</Link>
                </Button>
              )
            }
          >
            {isFiltered
              ? "Remove a filter or show all sessions."
              : "Your server creates one for each visitor. Sessions appear here with their usage."}
          </EmptyState>
        ) : (
          <SessionTable items={data.items} panels={panels} mayWrite={mayWrite} />
        )}
      </Card>
      <Pagination
        label="Pages of sessions"
        state={state}
        nextCursor={data.nextCursor}
        hrefOf={(page) => sessionsHref(projectId, page)}
        className="mt-4"
      />
    </section>
  );
}

const STATUS = { active: "Active", expired: "Expired", revoked: "Revoked" };

function SessionFilters({
  projectId,
  state,
  definitions,
}: Props & { definitions: readonly PanelDefinition[] }) {
  const { wanted, isPending, show } = useAddress(state, (next) => sessionsHref(projectId, next));
  const filter = (change: SessionState) => show({ ...wanted, ...FIRST_PAGE, ...change });
  return (
    <search
      aria-label="Filter sessions"
      aria-busy={isPending}
      className={cn("flex min-w-0 flex-wrap gap-2 transition-opacity", isPending && "opacity-60")}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const subject = String(new FormData(event.currentTarget).get("subject")).trim();
          filter({ subject: subject || undefined });
        }}
      >
        <Input
          key={state.subject}
          name="subject"
          type="search"
          aria-label="Subject"
          placeholder="Subject"
          maxLength={255}
          defaultValue={state.subject}
          className="h-8 w-40 text-sm"
        />
      </form>
      <Select
        value={wanted.status ?? ANY}
        onValueChange={(value) => filter({ status: PanelSessionStatus.safeParse(value).data })}
      >
        <SelectTrigger aria-label="Status" className="h-8 w-auto min-w-32 text-sm" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {PanelSessionStatus.options.map((each) => (
            <SelectItem key={each} value={each}>
              {STATUS[each]}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      {definitions.length > 1 && (
        <Select
          value={wanted.panel ?? ANY}
          onValueChange={(value) => filter({ panel: value === ANY ? undefined : value })}
        >
          <SelectTrigger aria-label="Embed" className="h-8 w-44 text-sm" />
          <SelectContent>
            <SelectItem value={ANY}>Any embed</SelectItem>
            {definitions.map(({ id, displayName }) => (
              <SelectItem key={id} value={id} className="max-w-80 truncate">
                {displayName}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      )}
    </search>
  );
}

type Lines = { items: PanelSession[]; panels: Panels; mayWrite: boolean };

function SessionTable({ items, panels, mayWrite }: Lines) {
  return (
    <>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">Embed sessions, newest first</caption>
          <thead>
            <tr>
              <TableHead className="w-28">Status</TableHead>
              <TableHead>Subject</TableHead>
              <TableHead>Embed and origin</TableHead>
              <TableHead className="text-right">Spent</TableHead>
              <TableHead className="text-right">Jobs</TableHead>
              <TableHead>Ends</TableHead>
              <TableHead>
                <span className="sr-only">Actions</span>
              </TableHead>
            </tr>
          </thead>
          <tbody>
            {items.map((session) => (
              <TableRow key={session.sessionId} data-session={session.sessionId}>
                <TableCell>
                  <SessionStatus session={session} panels={panels} />
                </TableCell>
                <TableCell className="max-w-44">
                  <Subject session={session} />
                </TableCell>
                <TableCell className="max-w-52 text-muted">
                  <span className="block truncate" title={panelOf(session, panels)}>
                    {panelOf(session, panels)}
                  </span>
                  <span className="block truncate text-xs" title={session.allowedOrigins.join("\n")}>
                    {originsOf(session)}
                  </span>
                </TableCell>
                <TableCell className="text-right whitespace-nowrap">
                  <Spent session={session} />
                </TableCell>
                <TableCell className="text-right whitespace-nowrap tabular-nums">{jobsOf(session)}</TableCell>
                <TableCell className="whitespace-nowrap text-muted">
                  <Ends session={session} />
                </TableCell>
                <TableCell className="text-right">{mayWrite && <Revoke session={session} />}</TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="Embed sessions, newest first" className="divide-y divide-line md:hidden">
        {items.map((session) => (
          <li key={session.sessionId} className="space-y-1.5 px-4 py-3" data-session={session.sessionId}>
            <div className="flex items-start justify-between gap-3">
              <div className="min-w-0">
                <Subject session={session} />
              </div>
              <SessionStatus session={session} panels={panels} />
            </div>
            <p className="text-xs text-muted [overflow-wrap:anywhere]">
              {panelOf(session, panels)}, {originsOf(session)}
            </p>
            <div className="flex items-end justify-between gap-3 text-xs">
              <div className="min-w-0 space-y-0.5">
                <Spent session={session} />
                <p className="tabular-nums">Jobs: {jobsOf(session)}</p>
                <p className="text-muted">
                  {session.status === "active" ? "Ends" : "Ended"} <Ends session={session} />
                </p>
              </div>
              {mayWrite && <Revoke session={session} />}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

const panelOf = ({ panelDefinitionId, panelDefinitionVersion }: PanelSession, panels: Panels) =>
  panelDefinitionId
    ? `${panels.get(panelDefinitionId)?.displayName ?? panelDefinitionId}, version ${panelDefinitionVersion}`
    : "No embed";

const originsOf = ({ allowedOrigins }: PanelSession) =>
  allowedOrigins.length > 1
    ? `${allowedOrigins[0]} and ${allowedOrigins.length - 1} more`
    : allowedOrigins[0];

const jobsOf = ({ admittedJobs, maxJobs }: PanelSession) => `${admittedJobs} of ${maxJobs}`;

function Subject({ session: { externalSubject, sessionId } }: { session: PanelSession }) {
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

function Spent({ session: { spentMicros, testSpentMicros, maxSpendMicros } }: { session: PanelSession }) {
  const usd = (micros: number) => formatUsd(micros / 1_000_000);
  return (
    <span className="tabular-nums">
      {usd(spentMicros)} of {usd(maxSpendMicros)}
      {testSpentMicros > 0 && (
        <span className="block text-xs text-muted">
          {usd(testSpentMicros)} of {TEST_MONEY}
        </span>
      )}
    </span>
  );
}

function Ends({ session: { status, expiresAt, revokedAt } }: { session: PanelSession }) {
  return <Ago at={(status === "revoked" && revokedAt) || expiresAt} />;
}

function SessionStatus({ session, panels }: { session: PanelSession; panels: Panels }) {
  const { status, panelDefinitionId } = session;
  const panel = panelDefinitionId ? panels.get(panelDefinitionId) : undefined;
  if (status === "active" && panel && panel.status !== "active")
    return (
      <Badge tone="warn">
        <Ban aria-hidden /> Embed {panel.status}
      </Badge>
    );
  return (
    <Badge tone={status === "active" ? "good" : "neutral"}>
      {status === "active" ? (
        <CircleCheck aria-hidden />
      ) : status === "expired" ? (
        <Clock aria-hidden />
      ) : (
        <Ban aria-hidden />
      )}
      {STATUS[status]}
    </Badge>
  );
}

function Revoke({ session }: { session: PanelSession }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const revoke = useMutation(
    trpc.panels.revokeSession.mutationOptions({
      onSuccess: () => toast.success("Session revoked"),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.panels.pathKey() }),
    }),
  );
  if (session.status !== "active") return null;
  const name = session.externalSubject ?? session.sessionId;
  return (
    <Confirm
      title={`Revoke the session “${name}”?`}
      description="The session is refused from its next request. Jobs it started continue. This cannot be undone."
      action="Revoke session"
      onConfirm={() => revoke.mutate({ session_id: session.sessionId })}
    >
      <Button size="sm" pending={revoke.isPending} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
    </Confirm>
  );
}
