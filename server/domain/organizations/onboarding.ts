import type { z } from "zod";
import type { Onboard, Onboarded } from "@/server/contract/members";
import { changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { insertProject } from "./projects/projects";

/**
 * True if people without an organization may create one. In production only if the installation allows it.
 */
export function isOnboardingOpen(): boolean {
  return env.ALLOW_ONBOARDING ?? env.CAPSTAN_ENV !== "production";
}

/**
 * Creates the first organization and project of a signed-in person who belongs to none, and makes them its
 * owner.
 */
export async function onboard(ctx: Ctx, input: Onboard): Promise<z.output<typeof Onboarded>> {
  const { principal } = ctx;
  if (principal.kind !== "human_session")
    fail("AuthorizationFailed", "Only a signed-in person can create an organization. Sign in first.");
  if (!isOnboardingOpen())
    fail(
      "AuthorizationFailed",
      "Only an operator can create organizations in this installation. Ask your operator.",
    );
  return changeAccess(async (tx) => {
    // The lock makes two concurrent clicks create one organization.
    const [person] = await tx.$queryRaw<{ founded_at: Date | null }[]>`
      SELECT founded_at FROM user_account WHERE id = ${principal.id} FOR UPDATE`;
    if (await tx.membership.findFirst({ where: { userId: principal.id } }))
      fail("AuthorizationFailed", "You already belong to an organization. Ask an operator for another one.");
    // Each organization begins with an allowance, so leaving one must not allow creating another.
    if (person?.founded_at)
      fail("AuthorizationFailed", "You already created an organization. Ask an operator for another one.");
    await tx.user.update({ where: { id: principal.id }, data: { foundedAt: ctx.now() } });
    const organizationId = newId("organization");
    const displayName = input.organizationName;
    await tx.organization.create({ data: { id: organizationId, displayName, createdAt: ctx.now() } });
    await tx.membership.create({
      data: { userId: principal.id, organizationId, role: "owner", createdAt: ctx.now() },
    });
    const act = { organizationId, subject: organizationId, action: "organization.created" };
    await record(ctx, { ...act, details: { displayName } }, tx);
    const { projectId } = await insertProject(tx, ctx, { organizationId, name: input.projectName });
    return { organizationId, projectId };
  });
}
