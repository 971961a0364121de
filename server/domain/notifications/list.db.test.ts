import { beforeEach, expect, test } from "vitest";
import { changeAccess } from "@/server/domain/access";
import { systemCtx } from "@/server/domain/ctx";
import { inTransaction, pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { personOf } from "@/testing/sessions";
import { ctxOf, makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";
import { countUnread, list, markRead, notify, outbox, outboxMail } from ".";

let project: TestProject;
beforeEach(async () => {
  project = await makeProject();
});

const tellMembers = (title: string, organizationId = project.organizationId) =>
  inTransaction((client) =>
    notify(
      client,
      project.ctx,
      { organizationId },
      {
        occasion: `${organizationId}:${title}`,
        kind: "request.declined",
        title,
        body: "Because.",
        href: "/projects/p/requests/r",
        letter: { facts: [], action: "Open request" },
      },
    ),
  );
const member = () => makePerson(project.organizationId, "viewer");
const titles = (page: Awaited<ReturnType<typeof list>>) => page.items.map(({ title }) => title);

test("a person reads their own notifications, newest first, page by page, with how many are unread", async () => {
  const [one, other] = await Promise.all([member(), member()]);
  for (const title of ["A", "B", "C"]) await tellMembers(title);
  const first = await list(one.ctx, { limit: 2 });
  expect([titles(first), first.unread]).toEqual([["C", "B"], 3]);
  const second = await list(one.ctx, { limit: 2, cursor: first.nextCursor });
  expect([titles(second), second.nextCursor]).toEqual([["A"], undefined]);
  expect(await markRead(one.ctx, { ids: [first.items[0]!.notificationId] })).toBe(2);
  expect((await list(one.ctx, { limit: 1 })).items[0]).toMatchObject({
    title: "C",
    readAt: expect.any(String),
  });
  expect(await countUnread(other.ctx)).toBe(3);
  expect(await markRead(other.ctx, { all: true })).toBe(0);
  expect(await countUnread(one.ctx)).toBe(2);
});

test("a person who is no operator reads news about their own account, and no news of operators", async () => {
  const { ctx, userId } = await member();
  const news = { body: "Review it.", href: "/account", letter: { facts: [], action: "Review your account" } };
  await inTransaction(async (client) => {
    const own = { ...news, occasion: `own:${userId}`, kind: "account.password_changed", title: "Changed" };
    await notify(client, ctx, { userId }, own);
    const other = { ...news, occasion: `other:${userId}`, kind: "commission.refund_failed", title: "Failed" };
    await notify(client, ctx, { userId }, other);
  });
  expect(titles(await list(ctx, { limit: 5 }))).toEqual(["Changed"]);
  expect(await countUnread(ctx)).toBe(1);
  expect(await markRead(ctx, { all: true })).toBe(0);
});

test("no one can mark another's notification as read, and a read one keeps its time", async () => {
  const [one, other] = await Promise.all([member(), member()]);
  await tellMembers("A");
  const [own] = (await list(one.ctx, { limit: 1 })).items;
  await markRead(other.ctx, { ids: [own!.notificationId] });
  expect(await countUnread(one.ctx)).toBe(1);
  await markRead(one.ctx, { all: true });
  const [read] = (await list(one.ctx, { limit: 1 })).items;
  await markRead({ ...one.ctx, now: () => new Date(Date.now() + 60_000) }, { all: true });
  expect((await list(one.ctx, { limit: 1 })).items[0]!.readAt).toBe(read!.readAt);
});

test("former members no longer read their organization's notifications, and former operators none for operators", async () => {
  const person = await member();
  await tellMembers("A");
  const again = async () => ctxOf(await personOf(person.userId));
  const change = (sql: string) => changeAccess((client) => client.query(sql, [person.userId]));
  await change("UPDATE user_account SET is_operator = true WHERE id = $1");
  await inTransaction((client) =>
    notify(client, project.ctx, "operators", {
      occasion: `${project.organizationId}:operators`,
      kind: "request.submitted",
      title: "For operators",
      body: "",
      href: "/operator/requests/r",
      letter: { facts: [], action: "Open request" },
    }),
  );
  expect(titles(await list(await again(), { limit: 9 }))).toEqual(["For operators", "A"]);
  await change("DELETE FROM membership WHERE user_id = $1");
  expect(titles(await list(await again(), { limit: 9 }))).toEqual(["For operators"]);
  await change("UPDATE user_account SET is_operator = false WHERE id = $1");
  expect(await list(await again(), { limit: 9 })).toEqual({ items: [], unread: 0 });
});

test("keys and the system have no notifications", async () => {
  for (const ctx of [project.ctx, systemCtx("test")])
    await expect(list(ctx, { limit: 1 })).rejects.toMatchObject({ code: "AuthorizationFailed" });
});

test("operators see stored emails in full, and no one else sees an email", async () => {
  const person = await member();
  await tellMembers("Kept");
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM mail WHERE recipient = $1", [
    person.email,
  ]);
  const operator = systemCtx("admin");
  // Starting near this email: other tests may have written more since.
  const page = await outbox(operator, { limit: 100, cursor: newId("mail") });
  expect(page.isSending).toBe(false);
  expect(page.items.find(({ mailId }) => mailId === rows[0]!.id)).toMatchObject({
    recipient: person.email,
    subject: "Kept",
    state: "kept",
    attempts: 0,
  });
  const whole = await outboxMail(operator, rows[0]!.id);
  expect(whole.text).toContain("Because.");
  expect(whole.html).toContain("Because.");
  await expect(outboxMail(operator, "mail_none")).rejects.toMatchObject({ code: "NotFound" });
  for (const ctx of [person.ctx, project.ctx]) {
    await expect(outbox(ctx, { limit: 1 })).rejects.toMatchObject({ code: "AuthorizationFailed" });
    await expect(outboxMail(ctx, rows[0]!.id)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  }
});
