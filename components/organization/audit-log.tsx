"use client";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { GrowingList } from "@/components/blocks/list/growing-list";
import { callerName } from "@/components/callers/caller-name";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import type { AuditLogEntry } from "@/server/contract/audit";
import { logFileHref } from "./organization-state";

const FIELDS = [
  {
    name: "action",
    label: "Action",
    type: "text",
    placeholder: "key or key.rotated",
    pattern: "[a-z_]+(\\.[a-z_]+)?",
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
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Card aria-labelledby="log-title" aria-busy={log.isFetching} className="overflow-hidden">
      <CardHeader
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
      />
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
          <ol aria-labelledby="log-title" className="divide-y divide-line">
            {rows.map((entry) => (
              <Entry key={entry.entryId} entry={entry} />
            ))}
          </ol>
        )}
      </GrowingList>
    </Card>
  );
}

/** A list as comma-separated words; anything else that is not text as JSON. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(wordsOf).join(", ") || "none";
  return JSON.stringify(value);
}

function Entry({ entry }: { entry: AuditLogEntry }) {
  const { actorId: id, actorKind: kind, actorName: name } = entry;
  const details = Object.entries(entry.details).filter(([, value]) => value !== null);
  return (
    <li className="space-y-1 px-4 py-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-sm">
        <code className="font-medium">{entry.action}</code>
        <span className="text-muted [overflow-wrap:anywhere]">{callerName({ id, kind, name })}</span>
        <span className="text-xs text-muted sm:ml-auto">
          <Moment at={entry.createdAt} />
        </span>
      </div>
      <p className="font-mono text-xs text-muted [overflow-wrap:anywhere]">
        {entry.subject}
        {details.map(([name, value]) => ` · ${name}: ${wordsOf(value)}`)}
        {kind === "service_principal" && ` · by ${entry.actor}…`}
        {entry.address && ` · from ${entry.address}`}
      </p>
    </li>
  );
}
