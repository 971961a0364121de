import { inTransaction, pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { findSignIn, type SignedIn } from "@/server/domain/organizations";
import { recordOwn, tellPerson } from "./own";

/** Who an identity provider says somebody is. The subject is theirs for good; an e-mail may pass to somebody else. */
export type Identity = {
  issuer: string;
  /** What people know the provider by. */
  name: string;
  subject: string;
  /** Null: none that the provider vouches for. */
  verifiedEmail: string | null;
};

export type IdentityRefusal = { refused: "NoAccount" | "EmailNotVerified" | "IdentityTaken" };

/**
 * The account of an identity. One that signed in before is known by its subject, whatever its e-mail is now. At its first
 * time it is linked to the account with its verified e-mail, unless another identity of that provider is: an address that
 * passed to somebody else takes no account with it. Nobody is signed up on the way.
 */
export async function identify(ctx: Ctx, identity: Identity): Promise<SignedIn | IdentityRefusal> {
  const known = await findLinked(identity);
  if (known) return known;
  if (!identity.verifiedEmail) return { refused: "EmailNotVerified" };
  const account = await findSignIn(identity.verifiedEmail);
  if (!account) return { refused: "NoAccount" };
  await link(ctx, identity, account.userId);
  // Of two at once, one was linked.
  return (await findLinked(identity)) ?? { refused: "IdentityTaken" };
}

async function findLinked({ issuer, subject }: Identity): Promise<SignedIn | null> {
  const { rows } = await pool.query<{ email: string }>(
    "SELECT email FROM identity JOIN user_account ON user_account.id = user_id WHERE issuer = $1 AND subject = $2",
    [issuer, subject],
  );
  return rows[0] ? findSignIn(rows[0].email) : null;
}

async function link(ctx: Ctx, { issuer, subject, name }: Identity, userId: string): Promise<void> {
  await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO identity (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
      [issuer, subject, userId, ctx.now()],
    );
    if (rowCount === 0) return;
    await recordOwn(ctx, { userId, action: "identity.linked", subject: userId, details: { issuer } }, client);
    await tellPerson(ctx, client, {
      userId,
      occasion: `identity:${issuer}:${userId}:${ctx.now().toISOString()}`,
      kind: "account.identity_linked",
      title: `${name} now signs you in`,
      body: `Somebody signed in by ${name} with your verified e-mail address. If this was not you, tell your operator at once.`,
    });
  });
}
