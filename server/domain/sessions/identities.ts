import type { Ctx } from "@/server/domain/ctx";
import { findSignIn, type SignedIn } from "@/server/domain/organizations";
import { identity, userAccount } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { bool, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { recordOwn, tellPerson } from "./own";

/**
 * A person as an identity provider names them. The subject is theirs permanently, whereas an email address may pass to
 * another person.
 */
export type Identity = {
  issuer: string;
  /** The name that people know the provider by. */
  name: string;
  subject: string;
  /** Null if the provider vouches for no email address. */
  verifiedEmail: string | null;
};

/**
 * The person that an identity signs in. `link` is present if the identity is linked to them only after their code is
 * accepted.
 */
export type Identified = SignedIn & { link?: IdentityLink };
/** The stored part of an identity. */
export type IdentityLink = Pick<Identity, "issuer" | "name" | "subject">;

export type IdentityRefusal = { refused: "NoAccount" | "EmailNotVerified" | "IdentityTaken" };

/**
 * Returns the account of an identity. A linked identity is recognized by its subject, whatever its email
 * address is now. An unknown identity is linked to the account with its verified email address, unless
 * another identity of that provider is already linked to that account: the address may have passed to another
 * person. No account is created. A person with a second factor is linked by `linkIdentity` after their code,
 * because a verified email address alone must not create a way in.
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

/**
 * Links an identity to the person that it signs in. Returns false if another identity of that provider, or another
 * person with this one, was linked before.
 */
export async function linkIdentity(ctx: Ctx, identity: IdentityLink, userId: string): Promise<boolean> {
  await link(ctx, identity, userId);
  // If two calls run at once, only one of them has linked its identity.
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
  // The statement also reads the version, so that a session begun with an identity that is removed meanwhile never
  // works.
  return findPerson.first(pool, { issuer, subject });
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
