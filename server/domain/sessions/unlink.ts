import type { UnlinkIdentity } from "@/server/contract/sessions";
import { changeAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { identity, userAccount } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { isOffered, issuerName } from "./issuers";
import { ended, endOtherSessions, ownId, recordOwn, tellOwn } from "./own";
import { readPassword } from "./password";
import { requirePresence } from "./presence";

/**
 * True if the person can sign in without this provider: with a password, or with another provider that is offered
 * now.
 */
export const isSpare = (
  issuer: string,
  { hasPassword, issuers }: { hasPassword: boolean; issuers: string[] },
) => hasPassword || issuers.some((other) => other !== issuer && isOffered(other));

const lockPassword = statement("user_account.lock.password", {
  params: { userId: text },
  row: pick(userAccount, "password_hash"),
  sql: `SELECT password_hash FROM user_account WHERE id = $userId FOR UPDATE`,
});

const listIssuers = statement("identity.list.issuers", {
  params: { userId: text },
  row: { issuer: identity.issuer },
  sql: `SELECT issuer FROM identity WHERE user_id = $userId`,
});

const deleteIdentity = statement("identity.delete.issuer", {
  params: { userId: text, issuer: text },
  sql: `DELETE FROM identity WHERE user_id = $userId AND issuer = $issuer`,
});

/**
 * Removes a provider's identity from the caller, who must be present, and ends all their other sessions, including any
 * begun with that identity. The last way to sign in cannot be removed. Signing in through that provider with the
 * caller's verified email address links it again.
 */
export async function unlinkIdentity(ctx: Ctx, { issuer, password }: UnlinkIdentity): Promise<void> {
  const userId = ownId(ctx);
  const { passwordHash } = (await readPassword(userId)) ?? ended();
  await requirePresence(ctx, { userId, passwordHash, password });
  await changeAccess(async (client) => {
    // The lock ensures that one way in remains if two are removed at once.
    const person = (await lockPassword.first(client, { userId })) ?? ended();
    const rows = await listIssuers.all(client, { userId });
    const issuers = rows.map((row) => row.issuer);
    if (!issuers.includes(issuer)) fail("NotFound", "There is no such linked identity.");
    if (!isSpare(issuer, { hasPassword: person.password_hash !== null, issuers }))
      fail("InvalidInput", "This is your only way to sign in. Add another one first.");
    await deleteIdentity.run(client, { userId, issuer });
    await endOtherSessions(client, ctx);
    await recordOwn(
      ctx,
      { userId, action: "identity.unlinked", subject: userId, details: { issuer } },
      client,
    );
    await tellOwn(ctx, client, {
      kind: "account.identity_unlinked",
      title: `${issuerName(issuer)} no longer signs you in`,
      body: "It was disconnected from your account, and all your other sessions have ended. If this was not you, contact your operator immediately.",
    });
  });
}
