import type { OwnAccount } from "@/server/contract/sessions";
import type { Ctx } from "@/server/domain/ctx";
import { userAccount } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { bool, column, int4, maybe, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { issuerName } from "./issuers";
import { ownId } from "./own";
import { isSpare } from "./unlink";

const readSignIn = statement("user_account.read.sign_in_methods", {
  params: { userId: text, askedBy: texts },
  row: {
    ...pick(userAccount, "email second_factor_at"),
    has_password: bool,
    left: present(int4, "the list has a default and is never set to null"),
    identities: column<{ issuer: string; since: string }[]>("json"),
    asked_by: maybe(texts),
  },
  sql: `SELECT email, password_hash IS NOT NULL AS has_password, second_factor_at, cardinality(recovery_hashes) AS left,
       (SELECT coalesce(json_agg(json_build_object('issuer', issuer, 'since', created_at) ORDER BY created_at, issuer), '[]')
        FROM identity WHERE user_id = $userId) AS identities,
       (SELECT array_agg(organization.display_name ORDER BY organization.display_name)
        FROM organization WHERE organization.id = ANY($askedBy)) AS asked_by
     FROM user_account WHERE id = $userId`,
});

/**
 * Returns the caller's account and the ways in which they sign in. Throws `AuthorizationFailed` unless a person is
 * signed in.
 */
export async function readAccount(ctx: Ctx): Promise<OwnAccount> {
  const userId = ownId(ctx);
  const row =
    (await readSignIn.first(pool, { userId, askedBy: askedBy(ctx) })) ??
    fail("NotFound", "There is no such account.");
  return {
    email: row.email,
    hasPassword: row.has_password,
    secondFactor: { since: row.second_factor_at?.toISOString() ?? null, recoveryCodesLeft: row.left },
    identities: row.identities.map(({ issuer, since }) => ({
      issuer,
      name: issuerName(issuer),
      since: new Date(since).toISOString(),
      isSpare: isSpare(issuer, {
        hasPassword: row.has_password,
        issuers: row.identities.map((each) => each.issuer),
      }),
    })),
    askedBy: row.asked_by ?? [],
  };
}

/** Returns the organizations that give the caller no rights until they have a second factor. */
export function askedBy({ principal }: Pick<Ctx, "principal">): string[] {
  const closed = principal.kind === "human_session" ? [...(principal.closedOrganizations ?? [])] : [];
  return closed.flatMap(([organizationId, because]) => (because === "second_factor" ? organizationId : []));
}
