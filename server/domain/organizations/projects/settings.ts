import type { z } from "zod";
import { RETENTION_DAYS, RetentionRequirement } from "@/server/contract/envelope";
import { type ChangeProject, type ProjectSettings, StoredSettings } from "@/server/contract/organizations";
import { access, changeAccess, visibleOrganizations } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { project } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { int8, maybe, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const findProject = statement("project.find.visible", {
  params: { projectId: text, visible: maybe(texts) },
  row: pick(project, "organization_id settings"),
  sql: `SELECT organization_id, settings FROM project WHERE id = $projectId
    AND ($visible::text[] IS NULL OR organization_id = ANY($visible))`,
});
const setSettings = statement("project.update.settings", {
  params: { projectId: text, settings: project.settings },
  sql: "UPDATE project SET settings = $settings WHERE id = $projectId",
});

const SHORTER = { projectId: text, requirement: text, seconds: int8 };
/** SQL: the new expiry of content in this table, and the condition that the content would expire later. */
const endOf = (table: string) => `${table}.created_at + $seconds::bigint * interval '1 second'`;
const endsLater = (table: string) => `(${table}.expires_at IS NULL OR ${table}.expires_at > ${endOf(table)})`;
const shortenPayloadsOfJobs = statement("payload.shorten.of_jobs", {
  params: SHORTER,
  sql: `UPDATE payload SET expires_at = ${endOf("payload")}
    FROM job WHERE job.id = payload.job_id AND payload.project_id = $projectId AND job.retention_requirement = $requirement
      AND payload.content IS NOT NULL AND ${endsLater("payload")}`,
});
const shortenPayloadsOfPins = statement("payload.shorten.of_pins", {
  params: SHORTER,
  sql: `UPDATE payload SET expires_at = ${endOf("payload")}
    WHERE payload.project_id = $projectId AND payload.content IS NOT NULL AND $requirement = coalesce(
        (SELECT capstan_pinned_plan(pin)->>'retentionRequirement' FROM pinned_execution pin WHERE pin.id = payload.pinned_id),
        (SELECT bulk.plan->>'retentionRequirement' FROM pinned_bulk bulk WHERE bulk.id = payload.bulk_id))
      AND ${endsLater("payload")}`,
});
const shortenArtifacts = statement("artifact.shorten", {
  params: SHORTER,
  sql: `UPDATE artifact SET expires_at = ${endOf("artifact")}
    FROM job_artifact JOIN job ON job.id = job_artifact.job_id
    WHERE job_artifact.artifact_id = artifact.id AND artifact.project_id = $projectId
      AND job_artifact.project_id = $projectId AND job.retention_requirement = $requirement AND artifact.pruned_at IS NULL
      AND ${endsLater("artifact")}`,
});

/**
 * Changes a project's settings for its executions: the maturity rating of content unless a call sets one, and
 * how many days content is kept, if fewer than the standard. The retention of stored content is shortened
 * too, never extended. For admins of the organization and operators.
 */
export async function changeProject(
  ctx: Ctx,
  { projectId, maturityRating, retentionDays }: z.input<typeof ChangeProject>,
): Promise<ProjectSettings> {
  return changeAccess(async (client) => {
    const row = await findProject.first(client, { projectId, visible: visibleOrganizations(ctx) });
    if (!row) fail("NotFound", "There is no such project.");
    access.authorize(ctx, "admin", { organizationId: row.organization_id });
    const before = StoredSettings.parse(row.settings);
    const days = { ...before.retentionDays, ...retentionDays };
    const settings = {
      ...before,
      maturityRating: maturityRating === undefined ? before.maturityRating : (maturityRating ?? undefined),
      retentionDays: Object.fromEntries(
        Object.entries(days).filter(([, value]) => typeof value === "number"),
      ),
    };
    await setSettings.run(client, { projectId, settings: JSON.parse(JSON.stringify(settings)) });
    const act = { organizationId: row.organization_id, projectId, subject: projectId };
    const details = JSON.parse(JSON.stringify({ maturityRating, retentionDays }));
    await record(ctx, { ...act, action: "project.settings_changed", details }, client);
    for (const requirement of RetentionRequirement.options) {
      const wanted = retentionDays?.[requirement];
      const standard = RETENTION_DAYS[requirement];
      if (typeof wanted === "number" && (standard === null || wanted < standard))
        await shorten(client, projectId, requirement, wanted);
    }
    return {
      projectId,
      maturityRating: settings.maturityRating ?? null,
      retentionDays: StoredSettings.parse(settings).retentionDays,
    };
  });
}

async function shorten(
  client: Transaction,
  projectId: string,
  requirement: string,
  days: number,
): Promise<void> {
  const given = { projectId, requirement, seconds: days * DAY_SECONDS };
  for (const each of [shortenPayloadsOfJobs, shortenPayloadsOfPins, shortenArtifacts])
    await each.run(client, given);
}
