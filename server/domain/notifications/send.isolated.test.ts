/** @module-tag long */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Role } from "@/server/domain/ctx";
import { inTransaction, pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { makeQuote, makeRequest, moveRequest } from "@/testing/commissions";
import { leasesPass } from "@/testing/leases";
import { type MailServer, startMailServer } from "@/testing/mail-server";
import { sendMailKilledAt } from "@/testing/processes";
import { setSettings } from "@/testing/settings";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import { attemptMail, handOnMail, MAIL_WAITS_MS, type News, notify, sendMail } from ".";

const FROM = "Capstan <no-reply@capstan.test>";
let project: TestProject;
let server: MailServer;
beforeEach(async () => {
  [project, server] = await Promise.all([makeProject(), startMailServer()]);
  setSettings({ SMTP_URL: server.url, MAIL_FROM: FROM });
});
afterEach(async () => {
  setSettings({ SMTP_URL: undefined, MAIL_FROM: undefined, CAPSTAN_ENV: "development" });
  await server.stop();
});

const NEWS: News = {
  occasion: "",
  kind: "commission.quote_ready",
  title: "A quote is ready",
  body: "It can be made.",
  href: "/approve/capability-quotes/cq_1",
  letter: { facts: [["Price", "$1,250.00"]], action: "Open quote" },
};
let occasions = 0;
const news = (more: Partial<News> = {}): News => ({
  ...NEWS,
  occasion: `${project.organizationId}:${++occasions}`,
  ...more,
});
const member = (role: Role = "member") => makePerson(project.organizationId, role);
const tellMembers = (item: News = news()) =>
  inTransaction((client) => notify(client, project.ctx, { organizationId: project.organizationId }, item));

type MailRow = {
  id: string;
  recipient: string;
  state: string;
  attempts: number;
  last_error: string | null;
  text: string;
  html: string;
  subject: string;
};
async function mails(): Promise<MailRow[]> {
  const { rows } = await pool.query<MailRow>(
    `SELECT mail.* FROM mail JOIN notification ON notification.id = notification_id
     WHERE organization_id = $1 ORDER BY mail.id`,
    [project.organizationId],
  );
  return rows;
}
const only = async () => (await mails())[0]!;
/** Runs the flow of every email of this project, as the engine does. */
async function sendAll() {
  for (const { id } of await mails()) await sendMail(project.ctx, id, inlineStep(project.clock));
}
const arrived = () => server.received.map(({ to }) => to[0]).toSorted();

test("email about a person's own account is sent, although the person is no operator", async () => {
  const { userId, email } = await member();
  const own = news({ kind: "account.password_changed" });
  await inTransaction((client) => notify(client, project.ctx, { userId }, own));
  const { rows } = await pool.query("SELECT id FROM mail WHERE recipient = $1", [email]);
  for (const { id } of rows) await sendMail(project.ctx, id, inlineStep(project.clock));
  expect(server.received.map(({ to }) => to[0])).toEqual([email]);
});

test("each member, viewers too, gets one notification and one email of two parts", async () => {
  const people = await Promise.all([member("owner"), member("admin"), member(), member("viewer")]);
  await makePerson((await makeProject()).organizationId, "owner");
  await tellMembers();
  await sendAll();
  await sendAll();
  expect(arrived()).toEqual(people.map(({ email }) => email).toSorted());
  const { rows } = await pool.query("SELECT user_id FROM notification WHERE organization_id = $1", [
    project.organizationId,
  ]);
  expect(rows.map((row) => row.user_id).toSorted()).toEqual(people.map(({ userId }) => userId).toSorted());
  for (const mail of server.received) {
    expect(mail.headers.subject).toBe("A quote is ready");
    expect(mail.headers.from).toBe(FROM);
    expect(mail.headers["auto-submitted"]).toBe("auto-generated");
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain("It can be made.");
      expect(part).toContain("$1,250.00");
      expect(part).toContain("http://localhost:3000/approve/capability-quotes/cq_1");
      expect(part).toContain("You receive this email because you are a member of Test on Capstan.");
    }
  }
  expect((await mails()).map(({ state, attempts }) => [state, attempts])).toEqual(
    people.map(() => ["sent", 1]),
  );
});

test("twenty concurrent calls for one occasion notify everyone once", async () => {
  await Promise.all([member(), member(), member()]);
  const item = news();
  await Promise.all(Array.from({ length: 20 }, () => tellMembers(item)));
  expect(await mails()).toHaveLength(3);
  const ids = (await mails()).map(({ id }) => id);
  await Promise.all([...ids, ...ids, ...ids].map((id) => attemptMail(project.ctx, id)));
  expect(server.received).toHaveLength(3);
  expect(new Set(arrived()).size).toBe(3);
});

test("operator notifications reach operators without a membership", async () => {
  const [operator, plain] = await Promise.all([
    makePerson((await makeProject()).organizationId, "viewer"),
    member(),
  ]);
  await pool.query("UPDATE user_account SET is_operator = true WHERE id = $1", [operator.userId]);
  await inTransaction((client) => notify(client, project.ctx, "operators", news()));
  const { rows } = await pool.query<{ id: string; user_id: string }>(
    "SELECT mail.id, user_id FROM mail JOIN notification ON notification.id = notification_id WHERE user_id = ANY($1)",
    [[operator.userId, plain.userId]],
  );
  expect(rows.map((row) => row.user_id)).toEqual([operator.userId]);
  await sendMail(project.ctx, rows[0]!.id, inlineStep(project.clock));
  expect(arrived()).toEqual([operator.email]);
  expect(server.received[0]!.text).toContain("because you are an operator of this Capstan installation");
  await pool.query("UPDATE user_account SET is_operator = false WHERE id = $1", [operator.userId]);
});

test("a member who leaves before sending gets no email, and one who left before writing is not notified", async () => {
  const [stays, leaves, gone] = await Promise.all([member(), member(), member()]);
  const leave = ({ userId }: { userId: string }) =>
    pool.query("DELETE FROM membership WHERE user_id = $1", [userId]);
  await leave(gone);
  await tellMembers();
  await leave(leaves);
  await sendAll();
  expect(arrived()).toEqual([stays.email]);
  expect((await mails()).map(({ recipient, state }) => [recipient, state]).toSorted()).toEqual(
    [
      [leaves.email, "failed"],
      [stays.email, "sent"],
    ].toSorted(),
  );
});

test("email goes to the address at the time of writing", async () => {
  const person = await member();
  await tellMembers();
  const renamed = `new-${person.email}`;
  await pool.query("UPDATE user_account SET email = $2 WHERE id = $1", [person.userId, renamed]);
  await tellMembers();
  await sendAll();
  expect(arrived()).toEqual([person.email, renamed].toSorted());
});

test("after a kill between sending and recording, the same email is sent again: one Message-ID, the same bytes", {
  timeout: 60_000,
}, async () => {
  await member();
  await tellMembers();
  const { id } = await only();
  const settings = { SMTP_URL: server.url, MAIL_FROM: FROM };
  expect(await sendMailKilledAt(id, "after-mail", settings)).toBe("SIGKILL");
  expect(await only()).toMatchObject({ state: "sending", attempts: 0 });
  await attemptMail(project.ctx, id);
  expect(server.received).toHaveLength(1); // the lease still belongs to the killed sender
  project.clock.advance(121_000);
  await leasesPass("mail", 121_000, "id = $2", id);
  const { rows } = await pool.query("SELECT user_id FROM notification WHERE organization_id = $1", [
    project.organizationId,
  ]);
  await handOnMail(project.ctx, { userId: rows[0].user_id });
  await attemptMail(project.ctx, id);
  expect(await only()).toMatchObject({ state: "sent", attempts: 1 });
  const [first, copy] = server.received;
  expect(server.received).toHaveLength(2);
  expect(first!.headers["message-id"]).toBe(`<${id}@localhost>`);
  expect(copy!.raw).toBe(first!.raw);
});

test("a temporary failure is retried with growing backoff", async () => {
  await member();
  await tellMembers();
  const waits: number[] = [];
  server.reactWith((_to, number) =>
    number > 3 ? "take" : { code: 451, at: "recipient", says: "try again later" },
  );
  const { id } = await only();
  const step = inlineStep(project.clock);
  await sendMail(project.ctx, id, {
    ...step,
    sleep: async (name, ms) => {
      expect(await only()).toMatchObject({
        state: "pending",
        last_error: "The mail server answered: 451 try again later",
      });
      waits.push(ms);
      await step.sleep(name, ms);
    },
  });
  expect(await only()).toMatchObject({ state: "sent", attempts: 4, last_error: null });
  expect(waits).toHaveLength(3);
  for (const [index, ms] of waits.entries())
    expect(Math.abs(ms / MAIL_WAITS_MS[index]! - 1)).toBeLessThanOrEqual(0.1);
});

test("an email that fails temporarily for more than a day is given up", async () => {
  await member();
  await tellMembers();
  server.reactWith(() => ({ code: 452, at: "data" }));
  await sendAll();
  expect(await only()).toMatchObject({ state: "failed", attempts: MAIL_WAITS_MS.length + 1 });
  expect(server.received).toEqual([]);
});

test.each(["recipient", "data"] as const)("a permanent rejection at %s is not retried", async (at) => {
  await Promise.all([member(), member()]);
  await tellMembers();
  const refused = (await only()).recipient;
  server.reactWith((to) => (to === refused ? { code: 550, at, says: "no such mailbox\r\nhere" } : "take"));
  await sendAll();
  const [one, other] = await mails();
  expect(one).toMatchObject({ state: "failed", attempts: 1 });
  expect(one!.last_error).toMatch(/^The mail server answered: 550[ -]no such mailbox/);
  expect(one!.last_error).not.toMatch(/[\r\n]/);
  expect(other).toMatchObject({ state: "sent", attempts: 1 });
});

test("an unreachable server gets the email once it is up", async () => {
  await member();
  await tellMembers();
  const { port } = server;
  await server.stop();
  const { id } = await only();
  expect(await attemptMail(project.ctx, id)).toMatchObject({ state: "again" });
  expect(await only()).toMatchObject({
    state: "pending",
    last_error: "The mail server could not be reached, or broke off.",
  });
  server = await startMailServer({ port });
  project.clock.advance(70_000);
  expect(await attemptMail(project.ctx, id)).toEqual({ state: "ended" });
  expect(server.received).toHaveLength(1);
});

test("a server that disconnects after accepting an email gets it again, under the same id", async () => {
  await member();
  await tellMembers();
  server.reactWith((_to, number) => (number === 1 ? "hang up" : "take"));
  await sendAll();
  expect(await only()).toMatchObject({ state: "sent", attempts: 2 });
  const [first, copy] = server.received.map(({ headers }) => headers["message-id"]);
  expect(copy).toBe(first);
});

test("six emails that are sent one after another share one connection", async () => {
  await Promise.all(Array.from({ length: 6 }, () => member("viewer")));
  await tellMembers();
  await sendAll();
  expect(server.received).toHaveLength(6);
  expect(new Set(server.received.map(({ session }) => session)).size).toBe(1);
});

test("a wrong password is reported and retried but never shown, even if the server repeats it", async () => {
  const password = "opensesame 42/+";
  await member();
  await tellMembers();
  setSettings({ SMTP_URL: `smtp://robot:${encodeURIComponent(password)}@127.0.0.1:${server.port}` });
  const logged: unknown[] = [];
  const warn = (...line: unknown[]) => logged.push(line);
  const log = Object.assign(Object.create(project.ctx.log), { warn, error: warn, info: warn });
  const { id } = await only();
  expect(await attemptMail({ ...project.ctx, log }, id)).toMatchObject({ state: "again" });
  const row = await only();
  expect(row).toMatchObject({
    state: "pending",
    last_error: "The mail server rejected the user and password in SMTP_URL. (535)",
  });
  const seen = JSON.stringify([row, logged]);
  for (const secret of [
    password,
    "opensesame",
    encodeURIComponent(password),
    Buffer.from(password).toString("base64"),
  ])
    expect(seen).not.toContain(secret);
  expect(server.users).toEqual(["robot"]);
  setSettings({ SMTP_URL: `smtp://robot:right@127.0.0.1:${server.port}` });
  project.clock.advance(70_000);
  await attemptMail(project.ctx, id);
  expect(server.received).toMatchObject([{ user: "robot" }]);
});

test("a server with an untrusted certificate gets neither email nor password", async () => {
  await member();
  const tls = await startMailServer({ secure: true });
  const starttls = await startMailServer({ disabledCommands: [], allowInsecureAuth: false });
  for (const url of [
    `smtps://robot:right@localhost:${tls.port}`,
    `smtp://robot:right@localhost:${starttls.port}?starttls=required`,
    `smtp://robot:right@localhost:${starttls.port}`,
    `smtp://robot:right@127.0.0.1:${server.port}?starttls=required`,
  ]) {
    setSettings({ SMTP_URL: url });
    await tellMembers();
    const { id } = (await mails()).at(-1)!;
    expect(await attemptMail(project.ctx, id), url).toMatchObject({ state: "again" });
  }
  expect([...tls.received, ...starttls.received, ...server.received]).toEqual([]);
  expect([...tls.users, ...starttls.users, ...server.users]).toEqual([]);
  await Promise.all([tls.stop(), starttls.stop()]);
});

test("without a mail server emails are stored in development, and none are written in production", async () => {
  await member();
  setSettings({ SMTP_URL: undefined });
  await tellMembers();
  expect((await mails()).map(({ state }) => state)).toEqual(["kept"]);
  await sendAll();
  expect((await only()).state).toBe("kept");
  setSettings({ CAPSTAN_ENV: "production" });
  await tellMembers();
  expect(await mails()).toHaveLength(1);
  const { rowCount } = await pool.query("SELECT FROM notification WHERE organization_id = $1", [
    project.organizationId,
  ]);
  expect(rowCount).toBe(2);
});

test("an email waits in its row while no mail server is configured", async () => {
  await member();
  await tellMembers();
  const url = env.SMTP_URL;
  setSettings({ SMTP_URL: undefined });
  const { id } = await only();
  expect(await attemptMail(project.ctx, id)).toEqual({ state: "ended" });
  expect((await only()).state).toBe("pending");
  setSettings({ SMTP_URL: url });
  await attemptMail(project.ctx, id);
  expect(server.received).toHaveLength(1);
});

test("user text cannot inject headers or markup", async () => {
  await member();
  const nasty = 'Maps\r\nBcc: thief@evil.test\r\n\r\n<script>alert("1")</script> & "more" \u202egnp.exe';
  const request = await makeRequest(project, nasty);
  await moveRequest(project.ctx, request.requestId, "submitted");
  await moveRequest(project.ctx, request.requestId, "in_review");
  await moveRequest(project.ctx, request.requestId, "needs_information", {
    feedback: {
      kind: "needs_information",
      message: "Which maps?\r\n.\r\nRCPT TO:<thief@evil.test>\n<img src=https://evil.test/x>",
      at: project.clock.now().toISOString(),
    },
  });
  await sendAll();
  const [mail] = server.received;
  expect(server.received).toHaveLength(1);
  expect(mail!.headers).not.toHaveProperty("bcc");
  expect(mail!.headers.subject).toMatch(/^More information is needed: “Maps Bcc: thief@evil.test <script>/);
  expect(mail!.headers.subject).not.toContain("\u202e");
  expect(mail!.html).not.toMatch(/<script|<img/);
  expect(mail!.html).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &quot;more&quot;");
  expect(mail!.text).toContain("> Which maps?\n> .\n> RCPT TO:<thief@evil.test>");
  expect([mail!.text, mail!.html].join("")).not.toContain("A need no one else may read");
});

test("a quote's email has the price, the delivery and the payment deadline", async () => {
  await member();
  const request = await makeRequest(project);
  await moveRequest(project.ctx, request.requestId, "submitted");
  await moveRequest(project.ctx, request.requestId, "in_review");
  const quoteId = await makeQuote(project, request);
  await moveRequest(project.ctx, request.requestId, "quoted");
  await sendAll();
  const [mail] = server.received;
  const { rows } = await pool.query<{ expires_at: Date }>(
    "SELECT expires_at FROM commission_quote WHERE id = $1",
    [quoteId],
  );
  const day = rows[0]!.expires_at.toLocaleDateString("en-GB", { dateStyle: "full", timeZone: "UTC" });
  expect(mail!.headers.subject).toBe("A quote is ready: “Read maps”");
  for (const part of [mail!.text, mail!.html]) {
    for (const words of [
      "$1,250.00 before tax",
      "within 10 business days of payment",
      `${day}, ${rows[0]!.expires_at.toISOString().slice(11, 16)} UTC`,
      "from this message",
      "With a test set.",
      `http://localhost:3000/approve/capability-quotes/${quoteId}`,
    ])
      expect(part).toContain(words);
  }
});
