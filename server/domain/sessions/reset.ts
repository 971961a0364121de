import { access, changeAccess } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { userAccount } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { bool, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { tellPerson } from "./own";

const resetFactor = statement("user_account.reset.second_factor", {
  params: { email: text },
  row: { id: userAccount.id, had_factor: bool },
  sql: `UPDATE user_account SET second_factor_at = NULL, second_factor_secret = NULL, second_factor_step = NULL,
         recovery_hashes = '{}', session_version = session_version + 1
       FROM (SELECT id, second_factor_at IS NOT NULL AS had_factor FROM user_account WHERE email = $email FOR UPDATE) AS before
       WHERE user_account.id = before.id RETURNING user_account.id, had_factor`,
});

const deleteIdentities = statement("identity.delete.person", {
  params: { userId: text },
  sql: `DELETE FROM identity WHERE user_id = $userId`,
});

/**
 * Removes a person's second factor and linked identities, and ends all their sessions. This is for a person who lost
 * their authenticator and recovery codes, or has another identity at their provider. They then sign in with their
 * password, or with an identity that is linked anew. Only operators may do this, and they must verify the person by
 * other means first. Throws `NotFound` for an unknown address.
 */
export async function resetSignIn(ctx: Ctx, address: string) {
  access.authorize(ctx, "operator");
  const email = address.trim().toLowerCase();
  return changeAccess(async (client) => {
    const { id: userId, had_factor: hadSecondFactor } =
      (await resetFactor.first(client, { email })) ?? fail("NotFound", "There is no such person.");
    const rowCount = await deleteIdentities.count(client, { userId });
    const details = { email, hadSecondFactor, identities: rowCount ?? 0 };
    const act = { organizationId: INSTALLATION, subject: userId, action: "user.sign_in_reset" };
    await record(ctx, { ...act, details }, client);
    await tellPerson(ctx, client, {
      userId,
      occasion: `sign-in-reset:${userId}:${ctx.now().toISOString()}`,
      kind: "account.sign_in_reset",
      title: "An operator reset your sign-in",
      body: "Your second factor is off, your linked identities were removed, and all your sessions have ended. Sign in and set up a new second factor.",
    });
    return { userId, ...details };
  });
}
