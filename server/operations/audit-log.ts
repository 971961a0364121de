import { csv } from "@/server/api/answers/csv";
import { raw } from "@/server/api/endpoint";
import { AuditLogPage, AuditLogQuery, ListAuditLog } from "@/server/contract/audit";
import { SHORT_PAGES } from "@/server/contract/common";
import * as organizations from "@/server/domain/organizations";
import { byPeople, operations } from "./define";

const people = operations("Organizations and projects", byPeople);

export const getAuditLog = people.get("/v1/organizations/{organization_id}/audit-log", {
  summary: "List an organization's audit log, latest first",
  description: `For organization admins. Records every action that affects permissions, keys, accounts, money or other people's work, with its actor, network address and target. Entries never change and contain no secrets. ${SHORT_PAGES}`,
  query: ListAuditLog,
  output: AuditLogPage,
  run: (ctx, { organization_id, query }) => organizations.auditLog(ctx, organization_id, query),
});

export const exportAuditLog = people.get("/v1/organizations/{organization_id}/audit-log-export", {
  summary: "Export an organization's audit log as CSV",
  description:
    "For organization admins. Exports all entries; details are JSON. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.",
  query: AuditLogQuery,
  output: raw("text/csv"),
  http: async (ctx, { organization_id, query }) =>
    csv(await organizations.auditLogFile(ctx, organization_id, query)),
});
