import { Password } from "@/server/contract/organizations";
import { changeAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { countTry, deleteSignInFailures, hashPassword, isPassword } from "@/server/domain/organizations";
import { userAccount } from "@/server/generated/schema";
import { maybe, text } from "@/server/sql/column";
import { people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { ended, endOtherSessions, ownId, recordOwn, refuseField, tellOwn } from "./own";

/** Resolves to null if there is no such person; `passwordHash` is null if the person has no password. */
export const readPassword = (userId: string): Promise<{ passwordHash: string | null } | null> =>
  people.user.findUnique({ where: { id: userId }, select: { passwordHash: true } });

const replacePassword = statement("user_account.update.password", {
  params: { userId: text, passwordHash: userAccount.password_hash, present: maybe(text) },
  sql: `UPDATE user_account SET password_hash = $passwordHash WHERE id = $userId AND password_hash IS NOT DISTINCT FROM $present`,
});

/**
 * Changes the caller's password, given the present one, and ends all their other sessions. Guesses are limited as at
 * sign-in. Throws a `ValidationFault` for a wrong or unsuitable password.
 */
export async function changePassword(ctx: Ctx, input: { present: string; next: string }): Promise<void> {
  const userId = ownId(ctx);
  const next = Password.safeParse(input.next);
  if (!next.success)
    refuseField(
      "next",
      next.error.issues[0]?.message ?? "The new password is the same as the current one. Choose another.",
    );
  const present = (await readPassword(userId))?.passwordHash ?? null;
  const entries = await countTry([`own:${userId}`], ctx.now());
  if (!(await isPassword(input.present, present))) refuseField("present", "The password is not correct.");
  await deleteSignInFailures(entries);
  const passwordHash = await hashPassword(next.data);
  await changeAccess(async (client) => {
    const rowCount = await replacePassword.count(client, { userId, passwordHash, present });
    if (rowCount === 0) ended(); // another change came first
    await endOtherSessions(client, ctx);
    await recordOwn(ctx, { userId, action: "password.changed", subject: userId }, client);
    await tellOwn(ctx, client, {
      kind: "account.password_changed",
      title: "Your password was changed",
      body: "All your other sessions have ended. If this was not you, contact your operator immediately.",
    });
  });
}
