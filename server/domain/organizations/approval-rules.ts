import type { z } from "zod";
import type { ApprovalRules, SetApprovalRules } from "@/server/contract/organizations";
import { pool } from "@/server/db";
import { access, changeAccess, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { microsToUsd, usdToMicros } from "@/server/money";

type Row = {
  organization_id: string;
  approval_threshold_micros: number | null;
  is_second_person: boolean | null;
};

/** A project the caller sees; somebody else's is as none at all. */
async function findRules(ctx: Ctx, projectId: string): Promise<Row> {
  const { rows } = await pool.query<Row>(
    `SELECT organization_id, approval_threshold_micros, (settings->>'requireDifferentApprover')::boolean AS is_second_person
     FROM project WHERE id = $1`,
    [projectId],
  );
  const row = rows[0];
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such project.");
  return row;
}

/** When a person has to approve a job of this project. */
export async function approvalRules(ctx: Ctx, projectId: string): Promise<ApprovalRules> {
  const row = await findRules(ctx, projectId);
  const threshold = row.approval_threshold_micros;
  return {
    projectId,
    thresholdUsd: threshold === null ? null : microsToUsd(threshold),
    requireDifferentApprover: row.is_second_person ?? false,
  };
}

/** Changes that, for jobs submitted from now on. For admins of the organization and operators. */
export async function setApprovalRules(
  ctx: Ctx,
  input: z.output<typeof SetApprovalRules>,
): Promise<ApprovalRules> {
  const { organization_id } = await findRules(ctx, input.project_id);
  access.authorize(ctx, "admin", { organizationId: organization_id });
  const micros = input.thresholdUsd === null ? null : usdToMicros(input.thresholdUsd);
  const rule = JSON.stringify({ requireDifferentApprover: input.requireDifferentApprover });
  const { project_id: projectId, ...details } = input;
  await changeAccess(async (tx) => {
    await tx.$executeRaw`
      UPDATE project SET approval_threshold_micros = ${micros}::bigint, settings = settings || ${rule}::jsonb
      WHERE id = ${projectId}`;
    const act = { organizationId: organization_id, projectId, subject: projectId };
    await record(ctx, { ...act, action: "project.approval_rules_set", details }, tx);
  });
  return approvalRules(ctx, input.project_id);
}
