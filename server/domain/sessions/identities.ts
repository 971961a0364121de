import type { Ctx } from "@/server/domain/ctx";
import { findSignIn, type SignedIn } from "@/server/domain/organizations";
import { identity, userAccount } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { bool, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { recordOwn, tellPerson } from "./own";

/** Who an identity provider says somebody is. The subject is theirs for good; an email may pass to somebody else. */
export type Identity = {
  issuer: string;
  /** What people know the provider by. */
  name: string;
  subject: string;
  /** Null: none that the provider vouches for. */
  verifiedEmail: string | null;
};

/** Who an identity signs in; `link`: once their code was right it is to be linked to them, and until then it is not. */
export type Identified = SignedIn & { link?: IdentityLink };
/** What is written down of an identity. */
export type IdentityLink = Pick<Identity, "issuer" | "name" | "subject">;

export type IdentityRefusal = { refused: "NoAccount" | "EmailNotVerified" | "IdentityTaken" };

/**
 * The account of an identity. One that signed in before is known by its subject, whatever its email is now. At its first
 * time it is linked to the account with its verified email, unless another identity of that provider is: an address that
 * passed to somebody else takes no account with it. No one is signed up on the way. Who has a second factor is linked by
 * `linkIdentity`, after their code: a verified email alone leaves no way in behind.
 */
export async function identify(ctx: Ctx, identity: Identity): Promise<Identified | IdentityRefusal> {
  const known = await findLinked(identity);
  if (known) return known;
  if (!identity.verifiedEmail) return { refused: "EmailNotVerified" };
  const account = await findSignIn(identity.verifiedEmail);
  if (!account) return { refused: "NoAccount" };
  if (account.needsCode) {
    if (await hasAnother(identity, account.userId)) return { refused: "IdentityTaken" };
    const { issuer, name, subject } = identity;
    return { ...account, link: { issuer, name, subject } };
  }
  const isLinked = await linkIdentity(ctx, identity, account.userId);
  return isLinked ? account : { refused: "IdentityTaken" };
}

/** Links an identity to the person it signs in. False where one of that provider, or of that subject, was linked before. */
export async function linkIdentity(ctx: Ctx, identity: IdentityLink, userId: string): Promise<boolean> {
  await link(ctx, identity, userId);
  // Of two at once, one was linked.
  return (await findLinked(identity))?.userId === userId;
}

const findOther = statement("identity.find.issuer", {
  params: { issuer: text, userId: text },
  sql: `SELECT FROM identity WHERE issuer = $issuer AND user_id = $userId`,
});

async function hasAnother({ issuer }: IdentityLink, userId: string): Promise<boolean> {
  const rowCount = await findOther.count(pool, { issuer, userId });
  return rowCount !== 0;
}

const findPerson = statement("identity.find.subject", {
  params: { issuer: text, subject: text },
  row: {
    email: userAccount.email,
    userId: userAccount.id,
    displayName: userAccount.display_name,
    sessionVersion: userAccount.session_version,
    needsCode: bool,
  },
  sql: `SELECT user_account.id AS "userId", email, display_name AS "displayName", session_version AS "sessionVersion",
       second_factor_at IS NOT NULL AS "needsCode"
     FROM identity JOIN user_account ON user_account.id = user_id WHERE issuer = $issuer AND subject = $subject`,
});

async function findLinked({ issuer, subject }: IdentityLink): Promise<SignedIn | null> {
  // In one statement with the version: a session that begins by an identity which is taken away meanwhile never works.
  const rows = await findPerson.all(pool, { issuer, subject });
  return rows[0] ?? null;
}

const insertIdentity = statement("identity.insert", {
  params: { issuer: identity.issuer, subject: identity.subject, userId: identity.user_id, now: timestamptz },
  sql: `INSERT INTO identity (issuer, subject, user_id, created_at) VALUES ($issuer, $subject, $userId, $now) ON CONFLICT DO NOTHING`,
});

async function link(ctx: Ctx, { issuer, subject, name }: IdentityLink, userId: string): Promise<void> {
  await inTransaction(async (client) => {
    const rowCount = await insertIdentity.count(client, { issuer, subject, userId, now: ctx.now() });
    if (rowCount === 0) return;
    await recordOwn(ctx, { userId, action: "identity.linked", subject: userId, details: { issuer } }, client);
    await tellPerson(ctx, client, {
      userId,
      occasion: `identity:${issuer}:${userId}:${ctx.now().toISOString()}`,
      kind: "account.identity_linked",
      title: `${name} now signs you in`,
      body: `Someone signed in with ${name} and your verified email address. If this was not you, contact your operator immediately.`,
    });
  });
}
