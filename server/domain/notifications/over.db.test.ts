import { beforeEach, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import { inTransaction, pool } from "@/server/platform/db";
import { makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";
import { list, markRead, notify, prune, resendMail } from ".";

/* Tests failed emails and the deletion of old ones. */

let project: TestProject;
beforeEach(async () => {
  project = await makeProject();
});

let occasions = 0;
const announce = () =>
  inTransaction((client) =>
    notify(
      client,
      project.ctx,
      { organizationId: project.organizationId },
      {
        occasion: `${project.organizationId}:${++occasions}`,
        kind: "commission.quote_ready",
        title: "A quote is ready",
        body: "It can be made.",
        href: "/approve/capability-quotes/cq_1",
        letter: { facts: [["Price", "$1,250.00"]], action: "Open quote" },
      },
    ),
  );
const mails = async () =>
  (
    await pool.query(
      `SELECT mail.* FROM mail JOIN notification ON notification.id = notification_id
       WHERE organization_id = $1 ORDER BY mail.id`,
      [project.organizationId],
    )
  ).rows;
const operator = systemCtx("operator");

test("an operator retries a failed email once, with an audit entry; other callers and other emails are refused", {
  tags: "long",
}, async () => {
  const person = await makePerson(project.organizationId, "member");
  await announce();
  const [{ id }] = await mails();
  await pool.query(
    "UPDATE mail SET state = 'failed', attempts = 8, next_attempt_at = NULL, last_error = 'away', completed_at = now() WHERE id = $1",
    [id],
  );
  await expect(resendMail(person.ctx, id)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  const again = await resendMail(operator, id);
  expect(again).toMatchObject({ mailId: id, state: "pending", attempts: 0, completedAt: null });
  expect(again).not.toHaveProperty("text");
  const [row] = await mails();
  expect(Math.abs(row.next_attempt_at.getTime() - Date.now())).toBeLessThan(60_000);
  await expect(resendMail(operator, id)).rejects.toMatchObject({ code: "InvalidInput" });
  await expect(resendMail(operator, "mail_none")).rejects.toMatchObject({ code: "NotFound" });
  const { rows } = await pool.query("SELECT action, organization_id FROM audit_entry WHERE subject = $1", [
    id,
  ]);
  expect(rows).toEqual([{ action: "mail.resent", organization_id: project.organizationId }]);
});

test("old rows are deleted: emails after 90 days, notifications after 180, unread ones after 400", async () => {
  const person = await makePerson(project.organizationId, "member");
  for (let count = 0; count < 4; count++) await announce();
  const { items } = await list(person.ctx, { limit: 10 });
  const [unread = "", readOld = "", readNew = "", waiting = ""] = items.map(
    ({ notificationId }) => notificationId,
  );
  await markRead(person.ctx, { ids: [readOld, readNew, waiting] });
  const age = (table: string, column: string, id: string, days: number) =>
    pool.query(`UPDATE ${table} SET ${column} = now() - make_interval(days => $2) WHERE id = $1`, [id, days]);
  const mailOf = Object.fromEntries((await mails()).map((row) => [row.notification_id, row.id]));
  await pool.query("UPDATE mail SET state = 'sent', completed_at = now() WHERE notification_id = ANY($1)", [
    [unread, readOld, readNew],
  ]);
  await pool.query(
    "UPDATE mail SET state = 'pending', next_attempt_at = now() + interval '9 days' WHERE id = $1",
    [mailOf[waiting]],
  );
  await age("notification", "created_at", unread, 399);
  await age("notification", "created_at", readOld, 181);
  await age("notification", "created_at", readNew, 179);
  await age("notification", "created_at", waiting, 500);
  await age("mail", "completed_at", mailOf[unread], 91);
  await age("mail", "completed_at", mailOf[readOld], 91);
  await age("mail", "completed_at", mailOf[readNew], 89);
  const left = async () =>
    (await list(person.ctx, { limit: 10 })).items.map(({ notificationId }) => notificationId);
  await prune(systemCtx("pruner"));
  expect(await left()).toEqual([unread, readNew, waiting]);
  expect((await mails()).map(({ id }) => id).sort()).toEqual([mailOf[readNew], mailOf[waiting]].sort());
  await age("notification", "created_at", unread, 401);
  await prune(systemCtx("pruner"));
  expect(await left()).toEqual([readNew, waiting]);
});
