import type { TableColumn } from "@/components/blocks/list/resource-table";
import { Moment } from "@/components/time/moment";
import { wordsOfCode } from "@/components/ui/wording";
import type { AuditEntry } from "@/server/contract/audit";
import { callerName } from "./caller-name";

/** Columns that all lists of the audit log share. */
export const AUDIT_COLUMNS = {
  action: {
    header: "Action",
    card: "title",
    cell: ({ action }) => (
      <>
        <span className="block font-medium whitespace-nowrap">{wordsOfCode(action)}</span>
        <code className="text-xs text-faint">{action}</code>
      </>
    ),
  },
  actor: {
    header: "Actor",
    className: "max-w-60 truncate @max-2xl:max-w-full",
    cell: ({ actorId: id, actorKind: kind, actorName: name }) => callerName({ id, kind, name }),
  },
  time: {
    header: "Time",
    align: "end",
    className: "whitespace-nowrap text-muted",
    cell: ({ createdAt }) => <Moment at={createdAt} />,
  },
} satisfies Record<string, TableColumn<AuditEntry>>;
