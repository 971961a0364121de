import { renderSVG } from "uqr";
import type { NewSecondFactor, RecoveryCodes } from "@/server/contract/sessions";
import { changeAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { countTry, deleteSignInFailures } from "@/server/domain/organizations";
import { userAccount } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { pick, text, timestamptz } from "@/server/sql/column";
import { people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { makeRecoveryCodes, makeSecret, takeCode, takeTimeCode } from "./codes";
import { ended, endOtherSessions, ownId, recordOwn, refuseField, tellOwn } from "./own";
import { requirePresence } from "./presence";

const readFactor = statement("user_account.read.second_factor", {
  params: { userId: text },
  row: pick(userAccount, "email password_hash second_factor_secret second_factor_at"),
  sql: `SELECT email, password_hash, second_factor_secret, second_factor_at FROM user_account WHERE id = $userId`,
});

async function rowOf(userId: string, database: Queryable = pool) {
  return (await readFactor.first(database, { userId })) ?? ended();
}

/**
 * Makes a secret for an authenticator. The caller must be present, because an open browser alone must not lock its
 * owner out. Signing in needs no code until `confirmSecondFactor` proves that the secret arrived.
 */
export async function startSecondFactor(ctx: Ctx, password?: string): Promise<NewSecondFactor> {
  const userId = ownId(ctx);
  const row = await rowOf(userId);
  if (row.second_factor_at) isOnAlready();
  await requirePresence(ctx, { userId, passwordHash: row.password_hash, password });
  const { secret, uri, sealed } = makeSecret(userId, row.email);
  const { count } = await people.user.updateMany({
    where: { id: userId, secondFactorAt: null },
    data: { secondFactorSecret: sealed, secondFactorStep: null },
  });
  if (count === 0) isOnAlready();
  return { secret, uri, qrCode: renderSVG(uri, { border: 2 }) };
}

const turnOn = statement("user_account.update.second_factor_on", {
  params: { userId: text, now: timestamptz, hashes: userAccount.recovery_hashes },
  sql: `UPDATE user_account SET second_factor_at = $now, recovery_hashes = $hashes WHERE id = $userId AND second_factor_at IS NULL`,
});

/**
 * Turns the second factor on with a code of the new secret, and ends all other sessions, so that every remaining
 * session has passed it. The recovery codes are returned only here.
 */
export async function confirmSecondFactor(ctx: Ctx, code: string): Promise<RecoveryCodes> {
  const userId = ownId(ctx);
  const entries = await countTry([`own:${userId}`], ctx.now());
  const { codes, hashes } = makeRecoveryCodes();
  const isOn = await changeAccess(async (client) => {
    const row = await rowOf(userId, client);
    if (row.second_factor_at) isOnAlready();
    const sealed = row.second_factor_secret;
    if (!(await takeTimeCode(client, { userId, sealed, code, now: ctx.now() }))) return false;
    const rowCount = await turnOn.count(client, { userId, now: ctx.now(), hashes });
    if (rowCount === 0) ended(); // another session confirmed it meanwhile
    await endOtherSessions(client, ctx);
    await recordOwn(ctx, { userId, action: "second_factor.on", subject: userId }, client);
    await tellOwn(ctx, client, {
      kind: "account.second_factor_on",
      title: "Your second factor is on",
      body: "You now need a code to sign in. All your other sessions have ended.",
    });
    return true;
  });
  if (!isOn) noCode();
  await deleteSignInFailures(entries);
  return { recoveryCodes: codes };
}

const turnOff = statement("user_account.update.second_factor_off", {
  params: { userId: text },
  sql: `UPDATE user_account SET second_factor_at = NULL, second_factor_secret = NULL, second_factor_step = NULL,
         recovery_hashes = '{}' WHERE id = $userId`,
});

/**
 * Turns the second factor off, given one of its codes. A password is not enough, since the factor guards against a
 * stolen one.
 */
export async function turnOffSecondFactor(ctx: Ctx, code: string): Promise<void> {
  const userId = ownId(ctx);
  await requireCode(ctx, userId, code);
  await changeAccess(async (client) => {
    await turnOff.run(client, { userId });
    await recordOwn(ctx, { userId, action: "second_factor.off", subject: userId }, client);
    await tellOwn(ctx, client, {
      kind: "account.second_factor_off",
      title: "Your second factor is off",
      body: "You no longer need a code to sign in. If this was not you, sign out everywhere and change your password.",
    });
  });
}

const storeRecoveryCodes = statement("user_account.update.recovery_codes", {
  params: { userId: text, hashes: userAccount.recovery_hashes },
  sql: `UPDATE user_account SET recovery_hashes = $hashes WHERE id = $userId AND second_factor_at IS NOT NULL`,
});

/** Replaces all recovery codes by new ones, given a code. */
export async function renewRecoveryCodes(ctx: Ctx, code: string): Promise<RecoveryCodes> {
  const userId = ownId(ctx);
  await requireCode(ctx, userId, code);
  const { codes, hashes } = makeRecoveryCodes();
  await inTransaction(async (client) => {
    const rowCount = await storeRecoveryCodes.count(client, { userId, hashes });
    if (rowCount === 0) isOff();
    await recordOwn(ctx, { userId, action: "second_factor.codes_renewed", subject: userId }, client);
  });
  return { recoveryCodes: codes };
}

async function requireCode(ctx: Ctx, userId: string, code: string): Promise<void> {
  if (!(await rowOf(userId)).second_factor_at) isOff();
  const entries = await countTry([`own:${userId}`], ctx.now());
  if (!(await takeCode(userId, code, ctx.now()))) noCode();
  await deleteSignInFailures(entries);
}

function noCode(): never {
  refuseField("code", "This code is wrong or was already used. Enter the current code.");
}

function isOnAlready(): never {
  fail("InvalidInput", "Your second factor is already on. Turn it off before you set up another.");
}

function isOff(): never {
  fail("InvalidInput", "Your second factor is not on.");
}
