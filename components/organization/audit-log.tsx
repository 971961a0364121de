"use client";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { GrowingList } from "@/components/blocks/list/growing-list";
import { ResourceTable } from "@/components/blocks/list/resource-table";
import { dollars } from "@/components/blocks/money/money";
import { AUDIT_COLUMNS } from "@/components/callers/audit-columns";
import { callerName } from "@/components/callers/caller-name";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { spaced, words, wordsOfCode } from "@/components/ui/wording";
import type { AuditLogEntry } from "@/server/contract/audit";
import { logFileHref } from "./organization-state";

const FIELDS = [
  {
    name: "action",
    label: "Action",
    type: "text",
    placeholder: "key or key.rotated",
    pattern: "[a-z_]+(\\.[a-z_]+)?",
    title: "Enter an action, such as key or key.rotated",
  },
  { name: "actor", label: "Actor", type: "text", placeholder: "Email or id", pattern: undefined },
  { name: "from", label: "From (UTC)", type: "date", placeholder: undefined, pattern: undefined },
  { name: "to", label: "Before (UTC)", type: "date", placeholder: undefined, pattern: undefined },
] as const;
type Filter = Partial<Record<(typeof FIELDS)[number]["name"], string | undefined>>;

/** An organization's audit log, newest first, with filters and CSV export. */
export function AuditLog({ organizationId }: { organizationId: string }) {
  const trpc = useTRPC();
  const [filter, setFilter] = useState<Filter>({});
  const log = useInfiniteQuery({
    ...trpc.organizations.auditLog.infiniteQueryOptions(
      { organizationId, limit: 50, ...filter },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
    placeholderData: keepPreviousData,
  });
  const named = useNamed(organizationId);
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Section
      id="log-title"
      title="Audit log"
      hint="Newest first"
      actions={
        <Button asChild size="sm">
          <a href={logFileHref(organizationId, filter)} download>
            <Download aria-hidden />
            Download CSV
          </a>
        </Button>
      }
      aria-busy={log.isFetching}
      isFlush
    >
      <Form
        send={({ given }) => setFilter(Object.fromEntries(FIELDS.map(({ name }) => [name, given(name)])))}
        className="grid gap-3 border-b border-line p-4 sm:grid-cols-2 lg:grid-cols-5"
      >
        {FIELDS.map((field) => (
          <TextField key={field.name} maxLength={254} {...field} />
        ))}
        <div className="flex items-end">
          <Button type="submit">Filter</Button>
        </div>
      </Form>
      <GrowingList
        what="the audit log"
        query={log}
        rows={entries}
        empty="No matching entries. Change or clear the filters."
      >
        {(rows) => (
          <ResourceTable<AuditLogEntry>
            label="Audit log, newest first"
            rows={rows}
            idOf={({ entryId }) => entryId}
            columns={[
              {
                header: "What happened",
                card: "title",
                className: "[overflow-wrap:anywhere]",
                cell: (entry) => <Happened {...{ entry, named }} />,
              },
              AUDIT_COLUMNS.time,
            ]}
          />
        )}
      </GrowingList>
    </Section>
  );
}

/** The name that `useNamed` gives the organization's own id. */
const ALL = "all";
const AN_ID = /\b[a-z]{2,6}_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** Replaces ids in a text with the names that the reader can see. */
function useNamed(organizationId: string): (text: string) => string {
  const trpc = useTRPC();
  const { data: projects = [] } = useQuery(trpc.organizations.projects.queryOptions({ organizationId }));
  const { data: keys = [] } = useQuery(trpc.organizations.keys.queryOptions({ organizationId }));
  const { data: members = [] } = useQuery(trpc.organizations.members.queryOptions({ organizationId }));
  const names = new Map([
    ...projects.map(({ id, displayName }) => [id, displayName] as const),
    ...keys.map(({ keyId, name }) => [keyId, name] as const),
    ...members.map(({ userId, email }) => [userId, email] as const),
  ]);
  return (text) =>
    text.replaceAll(AN_ID, (id) => names.get(id) ?? (id === organizationId ? ALL : shortId(id)));
}

function wordsOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => wordsOf(name, each)).join(", ") || "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && name.endsWith("Micros")) return dollars(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

const DONE = /(ed|set|sent|made|held|bound)$/;

/**
 * Writes `member.role_changed` as “ana@example.com changed the role of the member bob@example.com”; an action without such a
 * verb is written as its own words.
 */
function sentenceOf({ action, actorId, actorKind, actorName }: AuditLogEntry, subject: string): string {
  const [noun, did = ""] = action.split(".");
  const before = did.split("_");
  const verb = before.pop() ?? "";
  if (actorKind === "system" || !DONE.test(verb) || before[0] === "all")
    return [wordsOfCode(action), subject].filter(Boolean).join(": ");
  const part = before.length > 0 ? `${before.join(" ")} of the ` : "";
  const actor = callerName({ id: actorId, kind: actorKind, name: actorName });
  return `${actor} ${verb} the ${part}${words(noun)} ${subject}`.trim();
}

/** An action as a sentence, with all its details folded below. */
function Happened({ entry, named }: { entry: AuditLogEntry; named(text: string): string }) {
  const { action, actor, actorId, actorKind, actorName, address, details, subject } = entry;
  const subjectName = named(subject);
  return (
    <>
      {sentenceOf(entry, subjectName === ALL ? "" : subjectName)}
      <details className="text-xs text-muted">
        <summary>Details</summary>
        <Facts className="mt-1">
          <Fact name="Action">
            <code>{action}</code>
          </Fact>
          <Fact name="Of">{subject}</Fact>
          <Fact name="Actor">{callerName({ id: actorId, kind: actorKind, name: actorName })}</Fact>
          <Fact name="Key">{actorKind === "service_principal" && `${actor}…`}</Fact>
          <Fact name="From">{address}</Fact>
          {Object.entries(details).map(([name, value]) => (
            <Fact key={name} name={spaced(name.replace(/Micros$/, ""))}>
              {value !== null && named(wordsOf(name, value))}
            </Fact>
          ))}
        </Facts>
      </details>
    </>
  );
}
