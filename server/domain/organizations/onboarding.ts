import type { z } from "zod";
import type { Onboard, Onboarded } from "@/server/contract/members";
import { changeAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { userAccount } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { insertOrganization } from "./organizations";
import { insertMembership } from "./people";
import { insertProject } from "./projects/projects";

const lockUser = statement("user.lock", {
  params: { userId: text },
  row: { founded_at: userAccount.founded_at },
  sql: "SELECT founded_at FROM user_account WHERE id = $userId FOR UPDATE",
});
const findMembership = statement("membership.find.any", {
  params: { userId: text },
  row: { organization_id: text },
  sql: "SELECT organization_id FROM membership WHERE user_id = $userId LIMIT 1",
});
const setFounded = statement("user.update.founded", {
  params: { userId: text, now: timestamptz },
  sql: "UPDATE user_account SET founded_at = $now WHERE id = $userId",
});

/**
 * True if people without an organization may create one: by default outside production only. ALLOW_ONBOARDING
 * overrides this.
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
  return changeAccess(async (client) => {
    // The lock makes two concurrent clicks create one organization.
    const person = await lockUser.first(client, { userId: principal.id });
    if (await findMembership.first(client, { userId: principal.id }))
      fail("AuthorizationFailed", "You already belong to an organization. Ask an operator for another one.");
    // Each organization begins with an allowance, so leaving one must not allow creating another.
    if (person?.founded_at)
      fail("AuthorizationFailed", "You already created an organization. Ask an operator for another one.");
    await setFounded.run(client, { userId: principal.id, now: ctx.now() });
    const organizationId = newId("organization");
    const createdAt = ctx.now();
    const founded = { id: organizationId, displayName: input.organizationName, createdAt };
    await insertOrganization(client, ctx, founded);
    const owner = { userId: principal.id, organizationId, role: "owner", createdAt };
    await insertMembership.run(client, owner);
    const { projectId } = await insertProject(client, ctx, { organizationId, name: input.projectName });
    return { organizationId, projectId };
  });
}
