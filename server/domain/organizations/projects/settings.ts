import type { z } from "zod";
import { RETENTION_DAYS, RetentionRequirement } from "@/server/contract/envelope";
import { type ChangeProject, type ProjectSettings, StoredSettings } from "@/server/contract/organizations";
import { access, changeAccess, visibleOrganizations } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Tx } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { DAY_SECONDS } from "@/server/platform/time/units";

/**
 * Changes a project's settings for its executions: the maturity rating of content unless a call sets one, and
 * how many days content is kept, if fewer than the standard. The retention of stored content is shortened
 * too, never extended. For admins of the organization and operators.
 */
export async function changeProject(
  ctx: Ctx,
  { projectId, maturityRating, retentionDays }: z.input<typeof ChangeProject>,
): Promise<ProjectSettings> {
  return changeAccess(async (tx) => {
    const visible = visibleOrganizations(ctx);
    const row = await tx.project.findFirst({
      where: { id: projectId, ...(visible ? { organizationId: { in: visible } } : {}) },
    });
    if (!row) fail("NotFound", "There is no such project.");
    access.authorize(ctx, "admin", { organizationId: row.organizationId });
    const before = StoredSettings.parse(row.settings);
    const days = { ...before.retentionDays, ...retentionDays };
    const settings = {
      ...before,
      maturityRating: maturityRating === undefined ? before.maturityRating : (maturityRating ?? undefined),
      retentionDays: Object.fromEntries(
        Object.entries(days).filter(([, value]) => typeof value === "number"),
      ),
    };
    await tx.project.update({
      where: { id: projectId },
      data: { settings: JSON.parse(JSON.stringify(settings)) },
    });
    const act = { organizationId: row.organizationId, projectId, subject: projectId };
    const details = JSON.parse(JSON.stringify({ maturityRating, retentionDays }));
    await record(ctx, { ...act, action: "project.settings_changed", details }, tx);
    for (const requirement of RetentionRequirement.options) {
      const wanted = retentionDays?.[requirement];
      const standard = RETENTION_DAYS[requirement];
      if (typeof wanted === "number" && (standard === null || wanted < standard))
        await shorten(tx, projectId, requirement, wanted);
    }
    return {
      projectId,
      maturityRating: settings.maturityRating ?? null,
      retentionDays: StoredSettings.parse(settings).retentionDays,
    };
  });
}

async function shorten(tx: Tx, projectId: string, requirement: string, days: number): Promise<void> {
  const seconds = days * DAY_SECONDS;
  await tx.$executeRaw`
    UPDATE payload SET expires_at = payload.created_at + ${seconds} * interval '1 second'
    FROM job WHERE job.id = payload.job_id AND payload.project_id = ${projectId} AND job.retention_requirement = ${requirement}
      AND payload.content IS NOT NULL
      AND (payload.expires_at IS NULL OR payload.expires_at > payload.created_at + ${seconds} * interval '1 second')`;
  await tx.$executeRaw`
    UPDATE payload SET expires_at = payload.created_at + ${seconds} * interval '1 second'
    WHERE payload.project_id = ${projectId} AND payload.content IS NOT NULL AND ${requirement} = coalesce(
        (SELECT capstan_pinned_plan(pin)->>'retentionRequirement' FROM pinned_execution pin WHERE pin.id = payload.pinned_id),
        (SELECT bulk.plan->>'retentionRequirement' FROM pinned_bulk bulk WHERE bulk.id = payload.bulk_id))
      AND (payload.expires_at IS NULL OR payload.expires_at > payload.created_at + ${seconds} * interval '1 second')`;
  await tx.$executeRaw`
    UPDATE artifact SET expires_at = artifact.created_at + ${seconds} * interval '1 second'
    FROM job_artifact JOIN job ON job.id = job_artifact.job_id
    WHERE job_artifact.artifact_id = artifact.id AND artifact.project_id = ${projectId}
      AND job_artifact.project_id = ${projectId} AND job.retention_requirement = ${requirement} AND artifact.pruned_at IS NULL
      AND (artifact.expires_at IS NULL OR artifact.expires_at > artifact.created_at + ${seconds} * interval '1 second')`;
}
