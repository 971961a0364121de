import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { findSignIn, verifySignIn } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { codeAt, later, turnOn, visitor } from "@/testing/codes";
import { signIn } from "@/testing/sessions";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import * as sessions from ".";

let organizationId: string;
beforeAll(async () => {
  organizationId = (await makeTenant()).organizationId;
});

const start = new Date("2026-06-01T12:00:10.000Z");
const addressOfOwn = () => `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`;
async function person() {
  const made = await makePerson(organizationId, "member");
  // Sessions use the real clock and last two weeks, whereas the acts under test use their own clock.
  return { ...made, ctx: { ...made.ctx, now: () => start } };
}
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => {
      if (error instanceof ValidationFault) return error.issues[0]?.msg;
      return error instanceof Fault ? error.code : Promise.reject(error);
    },
  );
const enter = (ctx: Ctx, userId: string, code: string, version = 2) =>
  sessions.verifyCode(ctx, { userId, version, code });
const newsOf = async (userId: string) => {
  const { rows } = await pool.query<{ kind: string }>(
    "SELECT kind FROM notification WHERE user_id = $1 ORDER BY id",
    [userId],
  );
  return rows.map(({ kind }) => kind);
};
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

describe("turning the second factor on", () => {
  test("turning a second factor on needs the password and then a code, and until then signing in needs no code", async () => {
    const { ctx, password, email } = await person();
    expect(await outcome(sessions.startSecondFactor(ctx))).toBe("The password is not correct.");
    expect(await outcome(sessions.startSecondFactor(ctx, "wrong"))).toBe("The password is not correct.");
    const made = await sessions.startSecondFactor(ctx, password);
    const address = new URL(made.uri);
    expect([address.protocol, address.host, address.searchParams.get("secret")]).toEqual([
      "otpauth:",
      "totp",
      made.secret,
    ]);
    expect(decodeURIComponent(address.pathname)).toBe(`/Capstan:${email}`);
    expect(made.qrCode).toMatch(/^<svg/);
    const code = codeAt(made.secret, start);
    expect(await outcome(sessions.confirmSecondFactor(ctx, wrong(code)))).toMatch(/code is wrong/);
    expect(await findSignIn(email)).toMatchObject({ needsCode: false });
    expect((await sessions.readAccount(ctx)).secondFactor.since).toBeNull();
    const { recoveryCodes } = await sessions.confirmSecondFactor(ctx, `${code.slice(0, 3)} ${code.slice(3)}`);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await findSignIn(email)).toMatchObject({ needsCode: true });
    expect((await sessions.readAccount(ctx)).secondFactor).toEqual({
      since: start.toISOString(),
      recoveryCodesLeft: 10,
    });
    expect(await outcome(sessions.startSecondFactor(ctx, password))).toBe("InvalidInput");
    expect(await outcome(sessions.confirmSecondFactor(ctx, code))).toBe("InvalidInput");
  });

  test("turning a second factor on ends every other session and notifies the owner", async () => {
    const { ctx, userId, password } = await person();
    const other = await signIn(userId);
    await turnOn(ctx, password);
    expect(await access.sessionPrincipal(other, new Date())).toBeNull();
    const own = ctx.principal.kind === "human_session" ? ctx.principal.sessionId : undefined;
    expect(await access.sessionPrincipal(own ?? "", new Date())).toMatchObject({ id: userId });
    expect(await newsOf(userId)).toEqual(["account.second_factor_on"]);
  });

  test("a person without a password must have just signed in to set up a second factor", async () => {
    const { ctx, userId } = await person();
    await pool.query("UPDATE user_account SET password_hash = NULL WHERE id = $1", [userId]);
    const sinceNow = (minutes: number) => ({ ...ctx, now: () => new Date(Date.now() + minutes * 60_000) });
    expect(await outcome(sessions.startSecondFactor(sinceNow(16)))).toBe("AuthorizationFailed");
    expect(await outcome(sessions.startSecondFactor(sinceNow(14)))).toBe("done");
  });

  test("only one of two simultaneous confirmations turns the second factor on", async () => {
    const { ctx, password } = await person();
    const { secret } = await sessions.startSecondFactor(ctx, password);
    const confirm = () => outcome(sessions.confirmSecondFactor(ctx, codeAt(secret, start)));
    const both = await Promise.all([confirm(), confirm()]);
    expect(both.filter((each) => each === "done")).toHaveLength(1);
  });

  test("neither the secret nor the recovery codes are stored in plain text", async () => {
    const { ctx, userId, password } = await person();
    const { secret, recoveryCodes } = await turnOn(ctx, password);
    const { rows } = await pool.query(
      `SELECT user_account::text AS text FROM user_account WHERE id = $1
       UNION ALL SELECT audit_entry::text FROM audit_entry WHERE actor_id = $1
       UNION ALL SELECT notification::text FROM notification WHERE user_id = $1`,
      [userId],
    );
    const kept = rows.map(({ text }) => text).join();
    expect(kept).toContain("second_factor.on");
    for (const each of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll("-", ""))])
      expect(kept).not.toContain(each);
  });
});

describe("signing in with a code", () => {
  async function withFactor() {
    const made = await person();
    const factor = await turnOn(made.ctx, made.password);
    const at = (seconds: number) => visitor(later(made.ctx, seconds).now(), addressOfOwn());
    const codeIn = (seconds: number) => codeAt(factor.secret, later(made.ctx, seconds).now());
    return { ...made, ...factor, at, codeIn };
  }

  test("a code is valid for one step before and after its own, and no longer", async () => {
    const { userId, at, codeIn } = await withFactor();
    // Steps begin at :00 and :30. The secret was confirmed at 12:00:10, with the code of 12:00:00.
    expect(await enter(at(130), userId, codeIn(60))).toBe(false);
    expect(await enter(at(130), userId, codeIn(200))).toBe(false);
    expect(await enter(at(130), userId, codeIn(100))).toBe(true);
    expect(await enter(at(130), userId, codeIn(160))).toBe(true);
  });

  test("a code is refused if it was accepted, is older than the last accepted one, or confirmed the factor", async () => {
    const { userId, at, codeIn } = await withFactor();
    expect(await enter(at(5), userId, codeIn(0))).toBe(false);
    expect(await enter(at(60), userId, codeIn(60))).toBe(true);
    expect(await enter(at(60), userId, codeIn(60))).toBe(false);
    expect(await enter(at(60), userId, codeIn(30))).toBe(false);
    const many = await Promise.all(Array.from({ length: 8 }, () => enter(at(120), userId, codeIn(120))));
    expect(many.filter(Boolean)).toHaveLength(1);
  });

  test("a recovery code signs in once, however it is typed, and its owner is notified", async () => {
    const { ctx, userId, at, recoveryCodes } = await withFactor();
    const [first, second] = recoveryCodes;
    expect(await enter(at(40), userId, ` ${first?.toUpperCase().replaceAll("-", " ")}`)).toBe(true);
    expect(await enter(at(41), userId, first ?? "")).toBe(false);
    const many = await Promise.all(Array.from({ length: 8 }, () => enter(at(42), userId, second ?? "")));
    expect(many.filter(Boolean)).toHaveLength(1);
    expect((await sessions.readAccount(ctx)).secondFactor.recoveryCodesLeft).toBe(8);
    expect((await newsOf(userId)).filter((kind) => kind === "account.recovery_code_used")).toHaveLength(2);
  });

  test("another person's code is refused, and so is one whose sign-in began before the password changed", async () => {
    const [mine, theirs] = [await withFactor(), await withFactor()];
    expect(await enter(mine.at(60), mine.userId, theirs.codeIn(60))).toBe(false);
    expect(await enter(mine.at(60), mine.userId, theirs.recoveryCodes[0] ?? "")).toBe(false);
    expect(await enter(mine.at(60), mine.userId, mine.codeIn(60), 1)).toBe(false);
    const next = "another long password";
    await sessions.changePassword(mine.ctx, { present: mine.password, next });
    expect(await enter(mine.at(60), mine.userId, mine.codeIn(60))).toBe(false);
    expect(await enter(mine.at(60), mine.userId, mine.codeIn(60), 3)).toBe(true);
  });

  test("ten wrong codes from anywhere make the right one wait, and a right password clears none of them", async () => {
    const { userId, email, password, at, codeIn } = await withFactor();
    const pass = (seconds: number) => verifySignIn(at(seconds), { email, password, address: addressOfOwn() });
    for (let n = 0; n < 10; n++) {
      expect(await pass(60)).toMatchObject({ userId, needsCode: true });
      expect(await enter(at(60), userId, wrong(codeIn(60)))).toBe(false);
    }
    expect(await outcome(enter(at(60), userId, codeIn(60)))).toBe("RateLimited");
    expect(await outcome(enter(at(61), userId, codeIn(60)))).toBe("RateLimited");
    expect(await pass(60)).toMatchObject({ userId, needsCode: true });
    expect(await outcome(enter(at(62), userId, codeIn(60)))).toBe("RateLimited");
    // The owner is notified only once.
    expect((await newsOf(userId)).filter((kind) => kind === "account.codes_guessed")).toHaveLength(1);
    expect(await enter(at(60 + 15 * 60), userId, codeIn(60 + 15 * 60))).toBe(true);
  });

  test("wrong passwords, which anyone can send, block no right code", async () => {
    const { userId, email, at, codeIn } = await withFactor();
    for (let n = 0; n < 11; n++) {
      const guess = { email, password: "wrong", address: addressOfOwn() };
      expect(await verifySignIn(at(60), guess)).toMatchObject({ refused: n < 10 ? "wrong" : "too_many" });
    }
    expect(await enter(at(60), userId, codeIn(60))).toBe(true);
  });

  test("ten wrong codes from one address for several accounts make the address wait", async () => {
    const [one, other] = [await withFactor(), await withFactor()];
    const from = (seconds: number) => ({ ...one.at(seconds), address: "198.51.100.200" });
    for (let n = 0; n < 5; n++)
      for (const { userId } of [one, other]) expect(await enter(from(60), userId, "x")).toBe(false);
    const { userId, ctx, at, codeIn } = await withFactor();
    expect(await outcome(enter(from(60), userId, codeIn(60)))).toBe("RateLimited");
    expect(await enter(at(60), userId, codeIn(60))).toBe(true);
    expect(ctx.principal.kind).toBe("human_session");
  });
});

describe("a second factor that is on", () => {
  test("a second factor is turned off with a code and not with a password, and this is reported", async () => {
    const { ctx, userId, email, password } = await person();
    expect(await outcome(sessions.turnOffSecondFactor(ctx, "123456"))).toBe("InvalidInput");
    const { secret } = await turnOn(ctx, password);
    const after = later(ctx, 60);
    expect(await outcome(sessions.turnOffSecondFactor(after, password))).toMatch(/code is wrong/);
    await sessions.turnOffSecondFactor(after, codeAt(secret, after.now()));
    expect(await findSignIn(email)).toMatchObject({ needsCode: false });
    expect(await newsOf(userId)).toEqual(["account.second_factor_on", "account.second_factor_off"]);
    const { rows } = await pool.query(
      "SELECT second_factor_secret, second_factor_step, recovery_hashes FROM user_account WHERE id = $1",
      [userId],
    );
    expect(rows).toEqual([{ second_factor_secret: null, second_factor_step: null, recovery_hashes: [] }]);
  });

  test("new recovery codes replace the old ones", async () => {
    const { ctx, userId, password } = await person();
    const { secret, recoveryCodes } = await turnOn(ctx, password);
    const after = later(ctx, 60);
    expect(await outcome(sessions.renewRecoveryCodes(after, "000000"))).toMatch(/code is wrong/);
    const renewed = await sessions.renewRecoveryCodes(after, codeAt(secret, after.now()));
    expect(renewed.recoveryCodes).toHaveLength(10);
    expect(await enter(visitor(start, addressOfOwn()), userId, recoveryCodes[0] ?? "")).toBe(false);
    expect(await enter(visitor(start, addressOfOwn()), userId, renewed.recoveryCodes[0] ?? "")).toBe(true);
  });

  test("the old recovery codes stay valid if the new ones cannot be recorded", async () => {
    const { ctx, userId, password } = await person();
    const { secret } = await turnOn(ctx, password);
    const hashes = "SELECT recovery_hashes FROM user_account WHERE id = $1";
    const before = (await pool.query(hashes, [userId])).rows;
    const after = { ...later(ctx, 60), requestId: "\0" }; // the audit log cannot store this id
    await expect(sessions.renewRecoveryCodes(after, codeAt(secret, after.now()))).rejects.toThrow();
    expect((await pool.query(hashes, [userId])).rows).toEqual(before);
  });

  test("guessed codes are limited within a session, too", async () => {
    const { ctx, password } = await person();
    const { secret } = await turnOn(ctx, password);
    const after = later(ctx, 60);
    for (let n = 0; n < 10; n++)
      expect(await outcome(sessions.turnOffSecondFactor(after, "x"))).toMatch(/code is wrong/);
    const right = codeAt(secret, after.now());
    expect(await outcome(sessions.turnOffSecondFactor(after, right))).toBe("RateLimited");
    expect(await outcome(sessions.renewRecoveryCodes(after, right))).toBe("RateLimited");
  });

  test("only signed-in people can change a second factor", async () => {
    for (const work of [
      sessions.startSecondFactor(system, "x"),
      sessions.confirmSecondFactor(system, "123456"),
      sessions.turnOffSecondFactor(system, "123456"),
      sessions.renewRecoveryCodes(system, "123456"),
    ])
      expect(await outcome(work)).toBe("AuthorizationFailed");
  });
});
