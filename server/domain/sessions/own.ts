import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { type AccountNewsKind, notify } from "@/server/domain/notifications";
import { userAccount } from "@/server/generated/schema";
import type { Queryable, Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { maybe, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Returns the id of the signed-in person. Throws `AuthorizationFailed` for any other caller. */
export function ownId(ctx: Ctx): string {
  return ctx.principal.kind === "human_session"
    ? ctx.principal.id
    : fail("AuthorizationFailed", "Only a signed-in person can do this. Sign in to the panel.");
}

/** Returns the id of the current session, or null. */
export function currentId({ principal }: Ctx): string | null {
  return (principal.kind === "human_session" && principal.sessionId) || null;
}

export function ended(): never {
  fail("AuthenticationFailed", "Your session has ended. Sign in again.");
}

const endOthers = statement("session.end.others", {
  params: { userId: text, sessionId: maybe(text) },
  sql: `WITH person AS (
       UPDATE user_account SET session_version = session_version + 1 WHERE id = $userId RETURNING id, session_version
     )
     UPDATE session SET version = person.session_version FROM person
     WHERE session.id = $sessionId AND user_id = person.id AND version = person.session_version - 1`,
});

/**
 * Ends every session of the caller except the current one, in the caller's transaction. Sessions that are just
 * beginning end too. Throws `AuthenticationFailed` if the current one was ended meanwhile.
 */
export async function endOtherSessions(client: Queryable, ctx: Ctx): Promise<void> {
  const rowCount = await endOthers.count(client, { userId: ownId(ctx), sessionId: currentId(ctx) });
  if (rowCount === 0) ended();
}

type OwnAct = { userId: string; action: string; subject: string; details?: Record<string, Json> };

const readPerson = statement("user_account.read.with_organizations", {
  params: { userId: text },
  row: { email: userAccount.email, organization_ids: maybe(texts) },
  sql: `SELECT email, (SELECT array_agg(organization_id ORDER BY organization_id) FROM membership WHERE user_id = $userId) AS organization_ids
     FROM user_account WHERE id = $userId`,
});

/**
 * Records what a person did to their own account in the audit log of each of their organizations, since it concerns all
 * of them, or of the installation if they have none. The record is in the transaction of the act, so that neither
 * exists without the other.
 */
export async function recordOwn(
  ctx: Omit<Ctx, "principal">,
  { userId, ...act }: OwnAct,
  database: Transaction,
): Promise<void> {
  const { email = "", organization_ids } = (await readPerson.first(database, { userId })) ?? {};
  const principal = {
    kind: "human_session" as const,
    id: userId,
    email,
    memberships: new Map(),
    isOperator: false,
  };
  const details = { ...act.details, email };
  for (const organizationId of organization_ids ?? [INSTALLATION])
    await record({ ...ctx, principal }, { ...act, organizationId, details }, database);
}

type OwnNews = { kind: AccountNewsKind; title: string; body: string };

/**
 * Notifies the caller, in the panel and by mail, about a change to their account, because another person may have made
 * it.
 */
export function tellOwn(ctx: Ctx, client: Queryable, news: OwnNews): Promise<void> {
  const userId = ownId(ctx);
  return tellPerson(ctx, client, {
    userId,
    occasion: `${news.kind}:${userId}:${ctx.now().toISOString()}`,
    ...news,
  });
}

/** Notifies any person in the same way; they need not be the caller or signed in. */
export async function tellPerson(
  ctx: Ctx,
  client: Queryable,
  { userId, ...news }: OwnNews & { userId: string; occasion: string },
): Promise<void> {
  const facts = [
    ["When", ctx.now().toUTCString()],
    ...(ctx.address ? [["From", ctx.address] as const] : []),
  ] as const;
  const letter = { facts, action: "Review your account" };
  await notify(client, ctx, { userId }, { ...news, href: "/account", letter });
}

/** Throws a `ValidationFault` on one field of the body. */
export function refuseField(field: string, msg: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
}
