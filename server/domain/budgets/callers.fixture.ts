import { type Ctx, type Role, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import type { TestProject } from "@/testing/world";

export const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
export const operator = (project: TestProject) => systemCtx("admin", project.clock.now);

/** A signed-in person of the project's organization, or of no organization if `role` is null. */
export function person(project: TestProject, role: Role | null): Ctx {
  return {
    ...systemCtx("test", project.clock.now),
    principal: {
      kind: "human_session",
      id: newId("user"),
      email: "someone@capstan.test",
      memberships: new Map(role ? [[project.organizationId, role]] : []),
      isOperator: false,
    },
  };
}

export const submit = (project: TestProject, execution: Record<string, Json> = {}) =>
  jobs.submit(project.ctx, TEXT, { input, execution });

export const acts = async (project: TestProject) => {
  const { rows } = await pool.query<{ action: string }>(
    "SELECT action FROM audit_entry WHERE organization_id = $1 ORDER BY id",
    [project.organizationId],
  );
  return rows.map((row) => row.action);
};
