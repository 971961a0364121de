import { bytes, endpoint, raw } from "@/server/api/endpoint";
import { AuditLogPage, AuditLogQuery, ListAuditLog } from "@/server/contract/audit";
import { OrganizationPath } from "@/server/contract/credentials";
import * as organizations from "@/server/domain/organizations";

const tags = ["Organizations and projects"];
const people = ["human_session"] as const;
const PATH = "/v1/organizations/{organization_id}/audit-log" as const;

export const getAuditLog = endpoint({
  method: "GET",
  path: PATH,
  summary: "List an organization's audit log, latest first",
  description:
    "For organization admins. Records every action that affects permissions, keys, accounts, money or other people's work, with its actor, network address and target. Entries never change and contain no secrets.",
  tags,
  auth: people,
  params: OrganizationPath,
  query: ListAuditLog,
  output: AuditLogPage,
  errors: ["NotFound"],
  run: (ctx, { params, query }) => organizations.auditLog(ctx, params.organization_id, query),
});

export const exportAuditLog = endpoint({
  method: "GET",
  path: `${PATH}-export`,
  summary: "Export an organization's audit log as CSV",
  description:
    "For organization admins. Exports all entries; details are JSON. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.",
  tags,
  auth: people,
  params: OrganizationPath,
  query: AuditLogQuery,
  output: raw("text/csv"),
  errors: ["NotFound"],
  run: async (ctx, { params, query }) => {
    const { filename, content } = await organizations.auditLogFile(ctx, params.organization_id, query);
    return bytes({
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${filename}"`,
        "cache-control": "no-store",
      },
      body: content,
    });
  },
});
