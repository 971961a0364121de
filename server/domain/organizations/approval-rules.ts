import type { ApprovalRules, SetApprovalRules } from "@/server/contract/organizations";
import { access, changeAccess, managerOf, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { project } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { microsToUsd, usdToMicros } from "@/server/platform/money";
import { bool, jsonb, maybe, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const RULES = {
  ...pick(project, "organization_id approval_threshold_micros"),
  is_second_person: maybe(bool),
};
type Row = Of<typeof RULES>;

const rules = (name: string, lock = "") =>
  statement(name, {
    params: { projectId: text },
    row: RULES,
    sql: `SELECT organization_id, approval_threshold_micros, (settings->>'requireDifferentApprover')::boolean AS is_second_person
       FROM project WHERE id = $projectId ${lock}`,
  });
const rulesOf = rules("project.read.approval_rules");
const lockedRulesOf = rules("project.lock.approval_rules", "FOR NO KEY UPDATE");

async function readRules(projectId: string, database: Queryable, from = rulesOf): Promise<Row> {
  return (await from.first(database, { projectId })) ?? fail("NotFound", "There is no such project.");
}

/**
 * Conditions under which a job of this project needs an approval. For its people, and for its management
 * keys.
 */
export async function approvalRules(ctx: Ctx, projectId: string): Promise<ApprovalRules> {
  const row = await readRules(projectId, pool);
  const { organization_id: organizationId } = row;
  if (managerOf(ctx)) access.authorize(ctx, "settings:write", { managed: { organizationId, projectId } });
  else if (!roleIn(ctx, organizationId)) fail("NotFound", "There is no such project.");
  return toRules(projectId, row);
}

function toRules(projectId: string, row: Row): ApprovalRules {
  const threshold = row.approval_threshold_micros;
  return {
    projectId,
    thresholdUsd: threshold === null ? null : microsToUsd(threshold),
    requireDifferentApprover: row.is_second_person ?? false,
  };
}

const storeRules = statement("project.update.approval_rules", {
  params: {
    projectId: text,
    micros: project.approval_threshold_micros,
    rule: jsonb<{ requireDifferentApprover: boolean }>(),
  },
  sql: `UPDATE project SET approval_threshold_micros = $micros, settings = settings || $rule::jsonb WHERE id = $projectId`,
});

/**
 * Changes the approval rules for jobs submitted from now on. For admins of the organization, operators, and
 * management keys of the project, which can only make the rules stricter.
 */
export async function setApprovalRules(
  ctx: Ctx,
  projectId: string,
  wanted: SetApprovalRules,
): Promise<ApprovalRules> {
  const { organization_id: organizationId } = await readRules(projectId, pool);
  access.authorize(ctx, "settings:write", { managed: { organizationId, projectId } });
  const micros = wanted.thresholdUsd === null ? null : usdToMicros(wanted.thresholdUsd);
  const rule = { requireDifferentApprover: wanted.requireDifferentApprover };
  return changeAccess(async (client) => {
    const before = await readRules(projectId, client, lockedRulesOf);
    if (managerOf(ctx)) refuseLooser(before, micros, wanted.requireDifferentApprover);
    await storeRules.run(client, { projectId, micros, rule });
    const act = { organizationId, projectId, subject: projectId };
    await record(ctx, { ...act, action: "project.approval_rules_set", details: { ...wanted } }, client);
    return toRules(projectId, await readRules(projectId, client));
  });
}

function refuseLooser(before: Row, micros: number | null, isSecondPerson: boolean): void {
  const threshold = before.approval_threshold_micros;
  if (threshold !== null && (micros === null || micros > threshold))
    fail(
      "AuthorizationFailed",
      "A management key can lower this threshold but not raise or remove it. Ask an admin of the organization.",
      { field: "thresholdUsd", current: microsToUsd(threshold) },
    );
  if (before.is_second_person && !isSecondPerson)
    fail(
      "AuthorizationFailed",
      "A management key can require a different approver but not stop requiring one. Ask an admin of the organization.",
      { field: "requireDifferentApprover", current: true },
    );
}
