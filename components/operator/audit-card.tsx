"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { GrowingList } from "@/components/blocks/list/growing-list";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { AUDIT_COLUMNS } from "@/components/callers/audit-columns";
import { useTRPC } from "@/components/trpc";
import { Card, CardHeader } from "@/components/ui/card";
import type { AuditEntry } from "@/server/contract/audit";

const LOOK_AGAIN_MS = 15_000;

/** The audit log of a request and its payments. */
export function AuditCard({ requestId }: { requestId: string }) {
  const trpc = useTRPC();
  const audit = useInfiniteQuery({
    ...trpc.operator.audit.infiniteQueryOptions(
      { request_id: requestId },
      { getNextPageParam: (page) => page.nextCursor ?? null },
    ),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const entries = audit.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Card aria-labelledby="audit-title" aria-busy={audit.isPending} className="overflow-hidden">
      <CardHeader title="Audit log" id="audit-title" hint="Newest first" />
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
    </Card>
  );
}

const COLUMNS: Column<AuditEntry>[] = [
  AUDIT_COLUMNS.action,
  AUDIT_COLUMNS.actor,
  { header: "Address", className: "font-mono text-xs", cell: ({ address }) => address ?? "–" },
  AUDIT_COLUMNS.time,
];
