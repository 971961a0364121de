import type { UnlinkIdentity } from "@/server/contract/sessions";
import { changeAccessBy } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { isOffered, issuerName } from "./issuers";
import { ended, endOtherSessions, ownId, recordOwn, tellOwn } from "./own";
import { requirePresence } from "./presence";

/** Is there a way in without this provider: a password, or another one that signs people in here now? */
export const isSpare = (
  issuer: string,
  { hasPassword, issuers }: { hasPassword: boolean; issuers: string[] },
) => hasPassword || issuers.some((other) => other !== issuer && isOffered(other));

/**
 * Takes the identity of a provider away from the caller, who has to be there, and ends all their other sessions: those that
 * began by it, too. Their last way in stays. Signing in by that provider with their verified e-mail links it again.
 */
export async function unlinkIdentity(ctx: Ctx, { issuer, password }: UnlinkIdentity): Promise<void> {
  const userId = ownId(ctx);
  await requirePresence(ctx, { userId, passwordHash: await passwordHashOf(userId), password });
  await changeAccessBy(async (client) => {
    // Locked, so that of two ways in, taken away at once, one stays.
    const passwordHash = await passwordHashOf(userId, client, "FOR UPDATE");
    const { rows } = await client.query<{ issuer: string }>(
      "SELECT issuer FROM identity WHERE user_id = $1",
      [userId],
    );
    const issuers = rows.map((row) => row.issuer);
    if (!issuers.includes(issuer)) fail("NotFound", "There is no such linked identity.");
    if (!isSpare(issuer, { hasPassword: passwordHash !== null, issuers }))
      fail("InvalidInput", "This is your only way to sign in. Add another one first.");
    await client.query("DELETE FROM identity WHERE user_id = $1 AND issuer = $2", [userId, issuer]);
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

async function passwordHashOf(
  userId: string,
  database: Queryable = pool,
  lock: "" | "FOR UPDATE" = "",
): Promise<string | null> {
  const { rows } = await database.query<{ password_hash: string | null }>(
    `SELECT password_hash FROM user_account WHERE id = $1 ${lock}`,
    [userId],
  );
  return (rows[0] ?? ended()).password_hash;
}
