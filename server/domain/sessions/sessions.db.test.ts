import { beforeAll, describe, expect, test } from "vitest";
import { access } from "@/server/domain/access";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { verifySignIn } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { networkOf } from "@/server/platform/network-of";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { signIn } from "@/testing/sessions";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import * as sessions from ".";
import { browserLabel } from "./label";

let organizationId: string;
beforeAll(async () => {
  organizationId = (await makeTenant()).organizationId;
});

const person = () => makePerson(organizationId, "member");
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => (error instanceof Fault ? error.code : Promise.reject(error)),
  );
const works = async (sessionId: string) => (await access.sessionPrincipal(sessionId, new Date())) !== null;
const anonymous = (address: string = newId("request")): Ctx => ({
  ...system,
  address,
  principal: { kind: "anonymous", id: "anonymous", address },
});
const at = (ctx: Ctx, minutes: number): Ctx => ({
  ...ctx,
  now: () => new Date(Date.now() + minutes * 60_000),
});
const actsOf = async (userId: string) => {
  const { rows } = await pool.query<{ action: string }>(
    "SELECT action FROM audit_entry WHERE actor_id = $1 AND organization_id = $2 ORDER BY id",
    [userId, organizationId],
  );
  return rows.map(({ action }) => action);
};

describe("sessions", () => {
  test("a list has the valid sessions with their labels, and ending one ends no other", async () => {
    const { ctx, userId } = await person();
    const [one, over] = [
      await sessions.startSession(
        { ...systemCtx("test"), address: "203.0.113.7" },
        {
          userId,
          version: 1,
          userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        },
      ),
      await signIn(userId, () => new Date(Date.now() - 15 * DAY_MS)),
    ];
    const { items } = { items: await sessions.listSessions(ctx) };
    expect(items.map(({ sessionId }) => sessionId)).not.toContain(over);
    expect(items.find(({ sessionId }) => sessionId === one)).toMatchObject({
      kind: "browser",
      label: "Firefox on Linux",
      address: "203.0.113.7",
      isCurrent: false,
    });
    expect(items.filter(({ isCurrent }) => isCurrent).length).toBe(1);
    await sessions.endSession(ctx, one);
    expect(await works(one)).toBe(false);
    expect((await sessions.listSessions(ctx)).length).toBe(1);
    for (const none of [one, over, newId("session")])
      expect(await codeOf(sessions.endSession(ctx, none))).toBe("NotFound");
  });

  test("no one sees or ends another person's session", async () => {
    const [mine, theirs] = [await person(), await person()];
    const sessionId = await signIn(theirs.userId);
    expect(await codeOf(sessions.endSession(mine.ctx, sessionId))).toBe("NotFound");
    expect(await works(sessionId)).toBe(true);
    expect(JSON.stringify(await sessions.listSessions(mine.ctx))).not.toContain(sessionId);
    expect(await codeOf(sessions.listSessions(system))).toBe("AuthorizationFailed");
  });

  test("a changed password ends all other sessions, even one that began with the old password meanwhile", async () => {
    const { ctx, userId, email, password } = await person();
    const other = await signIn(userId);
    const [own] = (await sessions.listSessions(ctx)).filter(({ isCurrent }) => isCurrent);
    const change = (present: string, next: string) => sessions.changePassword(ctx, { present, next });
    await expect(change("wrong", "another long password")).rejects.toThrow("password is not correct");
    await expect(change(password, "short")).rejects.toMatchObject({
      issues: [{ loc: ["body", "next"], msg: "Choose a password of at least 12 characters." }],
    });
    await change(password, "another long password");
    const late = await sessions.startSession(system, { userId, version: 1, userAgent: null });
    expect(await Promise.all([own!.sessionId, other, late].map(works))).toEqual([true, false, false]);
    const signedIn = (word: string) =>
      verifySignIn(system, { email, password: word, address: newId("request") });
    expect(await signedIn(password)).toMatchObject({ refused: "wrong" });
    expect(await signedIn("another long password")).toMatchObject({ sessionVersion: 2 });
    expect(await actsOf(userId)).toContain("password.changed");
  });

  test("a network is known to a person who signed in from it in the last 30 days, has its own count of their failures, and is unknown to others", async () => {
    const [{ userId, email, password }, other] = [await person(), await person()];
    const [home, away] = ["2001:db8:5:6::1", "2001:db8:5:7::1"];
    const version = 1;
    await sessions.startSession({ ...system, address: home }, { userId, version, userAgent: null });
    await sessions.startSession(
      { ...system, address: away },
      { userId: other.userId, version, userAgent: null },
    );
    const later = (days: number) => ({ now: () => new Date(Date.now() + days * DAY_MS) });
    const enter = (at: { now(): Date }, from: string, word = password) =>
      verifySignIn(at, { email, password: word, address: networkOf(from) });
    const lockOut = async (days: number) => {
      for (let n = 0; n < 10; n++) await enter(later(days), `2001:db8:9:${days}${n}::`, "wrong");
    };
    await lockOut(0);
    expect(await enter(system, away)).toMatchObject({ refused: "too_many" });
    expect(await enter(system, "")).toMatchObject({ refused: "too_many" });
    for (let n = 0; n < 10; n++)
      expect(await enter(system, "2001:db8:5:6::2", "wrong")).toMatchObject({ refused: "wrong" });
    expect(await enter(system, home)).toMatchObject({ refused: "too_many" });
    await lockOut(29);
    expect(await enter(later(29), home)).toMatchObject({ userId });
    await lockOut(31);
    expect(await enter(later(31), home)).toMatchObject({ refused: "too_many" });
  });

  test("an account shows whether it has a password, and without one an empty present password is refused", async () => {
    const { ctx, userId, email } = await person();
    expect(await sessions.readAccount(ctx)).toMatchObject({ email, hasPassword: true });
    await pool.query("UPDATE user_account SET password_hash = NULL WHERE id = $1", [userId]);
    expect(await sessions.readAccount(ctx)).toMatchObject({ email, hasPassword: false });
    const change = sessions.changePassword(ctx, { present: "", next: "another long password" });
    await expect(change).rejects.toThrow("password is not correct");
    expect(await codeOf(sessions.readAccount(system))).toBe("AuthorizationFailed");
  });

  test("guesses at the present password are limited, and at the limit even the right one is refused", async () => {
    const { ctx, password } = await person();
    const change = (present: string) =>
      sessions.changePassword(ctx, { present, next: "another long password" });
    for (let n = 0; n < 10; n++)
      await expect(change(`guess ${n}`)).rejects.toThrow("password is not correct");
    expect(await codeOf(change(password))).toBe("RateLimited");
  });

  test("signing out everywhere ends every session, on devices too", async () => {
    const { ctx, userId } = await person();
    const other = await signIn(userId);
    const token = await deviceOf(ctx);
    await sessions.signOutEverywhere(ctx);
    expect(await works(other)).toBe(false);
    expect(await access.devicePrincipal(token, new Date())).toBeNull();
    expect(await actsOf(userId)).toContain("session.all_ended");
  });

  test("the last use of a session is stored after a while, and never moves back", async () => {
    const { ctx, userId } = await person();
    const sessionId = await signIn(userId);
    const later = new Date(Date.now() + HOUR_MS);
    await access.sessionPrincipal(sessionId, later);
    await access.writeUses();
    const seen = async () =>
      (await sessions.listSessions(ctx)).find((each) => each.sessionId === sessionId)?.lastSeenAt;
    expect(await seen()).toBe(later.toISOString());
    await access.sessionPrincipal(sessionId, new Date());
    await access.writeUses();
    expect(await seen()).toBe(later.toISOString());
  });

  test.each([
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
      "Safari on macOS",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0 Mobile/15E148 Safari/604.1",
      "Chrome on iPhone",
    ],
    [
      "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36",
      "Chrome on Android",
    ],
    ["curl/8.0", "A browser"],
    [null, "A browser"],
  ])("%s is shown as %s", (userAgent, label) => expect(browserLabel(userAgent)).toBe(label));
});

/** Signs a device in as this person and returns its token. */
async function deviceOf(ctx: Ctx): Promise<string> {
  const { userCode, deviceCode } = await sessions.startDevice(anonymous(), "capstan");
  await sessions.decideDevice(ctx, { userCode, decision: "approved" });
  return (await sessions.redeemDevice(anonymous(), deviceCode)).sessionToken;
}

describe("sign-in of a device", () => {
  test("a person sees which device asks, however they type the code, and lets it in", async () => {
    const { ctx, userId } = await person();
    const { userCode, deviceCode } = await sessions.startDevice(
      anonymous("198.51.100.4"),
      "capstan on a laptop",
    );
    const typed = ` ${userCode.toLowerCase().replace("-", " – ")} `;
    expect(await sessions.lookAtDevice(ctx, typed)).toMatchObject({
      userCode,
      clientName: "capstan on a laptop",
      address: "198.51.100.4",
    });
    expect(await codeOf(sessions.redeemDevice(anonymous(), deviceCode))).toBe("AuthorizationPending");
    await sessions.decideDevice(ctx, { userCode: typed, decision: "approved" });
    expect(await codeOf(sessions.lookAtDevice(ctx, userCode))).toBe("NotFound");
    const { sessionToken, sessionId } = await sessions.redeemDevice(anonymous(), deviceCode);
    expect(await access.devicePrincipal(sessionToken, new Date())).toMatchObject({ id: userId, sessionId });
    // A device's session is not a browser's, so its id in a cookie opens nothing.
    expect(await works(sessionId)).toBe(false);
    expect(await actsOf(userId)).toEqual(expect.arrayContaining(["device.approved", "session.started"]));
  });

  test("a session that cannot be recorded does not begin, and its code can be used again", async () => {
    const { ctx } = await person();
    const { userCode, deviceCode } = await sessions.startDevice(anonymous());
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const unheard = { ...anonymous(), requestId: "\0" }; // the audit log cannot store this id
    await expect(sessions.redeemDevice(unheard, deviceCode)).rejects.toThrow();
    expect(await codeOf(sessions.redeemDevice(anonymous(), deviceCode))).toBe("done");
  });

  test("only one of twenty simultaneous requests with one code gets the session", async () => {
    const { ctx, userId } = await person();
    const { userCode, deviceCode } = await sessions.startDevice(anonymous());
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => codeOf(sessions.redeemDevice(anonymous(), deviceCode))),
    );
    expect(codes.filter((code) => code === "done").length).toBe(1);
    expect(codes.filter((code) => code === "Gone").length).toBe(19);
    const { rowCount } = await pool.query("SELECT FROM session WHERE user_id = $1 AND kind = 'device'", [
      userId,
    ]);
    expect(rowCount).toBe(1);
  });

  test("a code is decided once, and of a simultaneous approval and denial only one counts", async () => {
    const { ctx } = await person();
    const { userCode } = await sessions.startDevice(anonymous());
    const decide = (decision: "approved" | "denied") =>
      codeOf(sessions.decideDevice(ctx, { userCode, decision }));
    const both = await Promise.all([decide("approved"), decide("denied")]);
    expect(both.sort()).toEqual(["NotFound", "done"]);
  });

  test("an expired code can be neither approved nor redeemed", async () => {
    const { ctx } = await person();
    const [waiting, approved] = [
      await sessions.startDevice(anonymous()),
      await sessions.startDevice(anonymous()),
    ];
    await sessions.decideDevice(ctx, { userCode: approved.userCode, decision: "approved" });
    const late = at(ctx, 15.1);
    expect(await codeOf(sessions.lookAtDevice(late, waiting.userCode))).toBe("NotFound");
    expect(
      await codeOf(sessions.decideDevice(late, { userCode: waiting.userCode, decision: "approved" })),
    ).toBe("NotFound");
    for (const { deviceCode } of [waiting, approved])
      expect(await codeOf(sessions.redeemDevice(at(anonymous(), 15.1), deviceCode))).toBe("Gone");
  });

  test("an approval from before a sign-out everywhere lets no one in", async () => {
    const { ctx } = await person();
    const { userCode, deviceCode } = await sessions.startDevice(anonymous());
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    await sessions.signOutEverywhere(ctx);
    expect(await codeOf(sessions.redeemDevice(anonymous(), deviceCode))).toBe("Gone");
  });

  test("a device's session approves no other device", async () => {
    const { ctx } = await person();
    const principal = await access.devicePrincipal(await deviceOf(ctx), new Date());
    const { userCode } = await sessions.startDevice(anonymous());
    const asDevice = { ...ctx, principal: principal! };
    expect(await codeOf(sessions.decideDevice(asDevice, { userCode, decision: "approved" }))).toBe(
      "NotFound",
    );
  });

  test("guesses are limited by person across addresses, and by address across people", async () => {
    const [guesser, ctx] = [(await person()).ctx, (await person()).ctx];
    const guess = (who: Ctx, address: string) =>
      codeOf(sessions.lookAtDevice({ ...who, address }, "BBBB-BBBB"));
    for (let n = 0; n < 10; n++) expect(await guess(guesser, newId("request"))).toBe("NotFound");
    const { userCode } = await sessions.startDevice(anonymous());
    const from = (who: Ctx, address: string) => codeOf(sessions.lookAtDevice({ ...who, address }, userCode));
    expect(await from(guesser, newId("request"))).toBe("RateLimited");
    const house = newId("request");
    for (let n = 0; n < 10; n++) expect(await guess((await person()).ctx, house)).toBe("NotFound");
    expect(await from(ctx, house)).toBe("RateLimited");
    expect(await from(ctx, newId("request"))).toBe("done");
  });

  test("at most 30 devices can wait from one address, until their codes expire", async () => {
    const crowd = anonymous();
    const codes = await Promise.all(Array.from({ length: 30 }, () => codeOf(sessions.startDevice(crowd))));
    expect(new Set(codes)).toEqual(new Set(["done"]));
    expect(await codeOf(sessions.startDevice(crowd))).toBe("RateLimited");
    expect(await codeOf(sessions.startDevice(at(crowd, 15.1)))).toBe("done");
  });

  test("neither the device's code nor its token is stored", async () => {
    const { ctx } = await person();
    const { userCode, deviceCode } = await sessions.startDevice(anonymous());
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const { sessionToken } = await sessions.redeemDevice(anonymous(), deviceCode);
    const { rows } = await pool.query(
      `SELECT row_to_json(login)::text AS text FROM device_login login UNION ALL SELECT row_to_json(session)::text FROM session
       UNION ALL SELECT row_to_json(audit_entry)::text FROM audit_entry`,
    );
    const kept = rows.map(({ text }) => text).join();
    expect(kept).toContain(userCode.replace("-", ""));
    for (const secret of [deviceCode, sessionToken, sessionToken.slice(5, 48)])
      expect(kept).not.toContain(secret);
  });

  // The test prunes long-ended sessions at the present time. A later time would also delete the sessions of parallel
  // tests.
  test("sessions that ended more than 30 days ago and expired device sign-ins are pruned", async () => {
    const { ctx, userId } = await person();
    const daysAgo = (days: number) => at(ctx, -60 * 24 * days).now;
    const [long, lately] = [await signIn(userId, daysAgo(45)), await signIn(userId, daysAgo(40))];
    await sessions.startDevice({ ...anonymous("pruned"), now: daysAgo(2) });
    await sessions.pruneSessions(new Date());
    const { rows } = await pool.query("SELECT id FROM session WHERE id = ANY($1)", [[long, lately]]);
    expect(rows).toEqual([{ id: lately }]);
    expect((await pool.query("SELECT FROM device_login WHERE address = 'pruned'")).rowCount).toBe(0);
  });
});
