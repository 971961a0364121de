import type { Ctx } from "@/server/domain/ctx";
import {
  addressSubjects,
  countTry,
  deleteSignInFailures,
  forgetSubject,
} from "@/server/domain/organizations";
import { inTransaction } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { networkOf } from "@/server/platform/network-of";
import { people } from "@/server/sql/people";
import { takeCode } from "./codes";
import { tellPerson } from "./own";

/**
 * Checks the second step of a sign-in, which follows a password or an identity provider: a code of the person's second
 * factor. Returns true if the code is right and sessions of this version are still valid. Wrong codes are limited by
 * address and by person, separately from wrong passwords, which anyone can send. Throws `RateLimited` above the limit.
 */
export async function verifyCode(
  ctx: Ctx,
  { userId, version, code }: { userId: string; version: number; code: string },
): Promise<boolean> {
  if ((await people.user.count({ where: { id: userId, sessionVersion: version } })) === 0) return false;
  const ofPerson = `code:${userId}`;
  const subjects = [ofPerson, ...addressSubjects(networkOf(ctx.address ?? ""))];
  const entries = await countTry(subjects, ctx.now()).catch(async (error) => {
    if (error instanceof Fault && error.code === "RateLimited") await warn(ctx, userId);
    throw error;
  });
  const taken = await takeCode(userId, code, ctx.now());
  if (!taken) return false;
  await deleteSignInFailures(entries);
  await forgetSubject(ofPerson);
  if (taken === "recovery") await tellUsed(ctx, userId);
  return true;
}

/** A person who guesses codes has already passed the first step, so the owner is notified, at most once a day. */
async function warn(ctx: Ctx, userId: string): Promise<void> {
  const news = {
    kind: "account.codes_guessed" as const,
    title: "Someone is guessing your second-factor codes",
    body: "They already entered your password or signed in with your identity provider. If this was not you, change your password.",
  };
  const occasion = `codes-guessed:${userId}:${ctx.now().toISOString().slice(0, 10)}`;
  await inTransaction((client) => tellPerson(ctx, client, { userId, occasion, ...news }));
}

async function tellUsed(ctx: Ctx, userId: string): Promise<void> {
  const row = await people.user.findUnique({ where: { id: userId }, select: { recoveryHashes: true } });
  const news = {
    kind: "account.recovery_code_used" as const,
    title: "A recovery code was used to sign in",
    body: `You have ${row?.recoveryHashes.length} left. If this was not you, sign out everywhere and change your password.`,
  };
  const occasion = `recovery-code:${userId}:${ctx.now().toISOString()}`;
  await inTransaction((client) => tellPerson(ctx, client, { userId, occasion, ...news }));
}
