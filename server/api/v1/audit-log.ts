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
  summary: "Read who did what in an organization, latest first",
  description:
    "For its admins. Every act that concerns rights, keys, accounts, money or other people's work: by whom, from which address, to what. Entries are never changed and hold no secrets.",
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
  summary: "The same as CSV, all of it",
  description:
    "For its admins. A text that a spreadsheet would take for a formula begins with an apostrophe; details are JSON.",
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
