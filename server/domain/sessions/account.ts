import type { Account } from "@/server/contract/sessions";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { ownId } from "./own";

type Row = { email: string; has_password: boolean; second_factor_at: Date | null; left: number };

/** Who the caller is, and how they prove it. */
export async function readAccount(ctx: Ctx): Promise<Account> {
  const { rows } = await pool.query<Row>(
    `SELECT email, password_hash IS NOT NULL AS has_password, second_factor_at, cardinality(recovery_hashes) AS left
     FROM user_account WHERE id = $1`,
    [ownId(ctx)],
  );
  const row = rows[0] ?? fail("NotFound", "There is no such account.");
  return {
    email: row.email,
    hasPassword: row.has_password,
    secondFactor: { since: row.second_factor_at?.toISOString() ?? null, recoveryCodesLeft: row.left },
  };
}
