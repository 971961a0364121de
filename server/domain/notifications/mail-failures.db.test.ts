import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { metricsAnswer } from "@/server/api/metrics";
import { inTransaction, pool } from "@/server/platform/db";
import { HOUR_MS } from "@/server/platform/time/units";
import { type MailReaction, type MailServer, startMailServer } from "@/testing/mail-server";
import { incoming } from "@/testing/requests";
import { SELF_SIGNED } from "@/testing/self-signed";
import { setSettings } from "@/testing/settings";
import { makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";
import { attemptMail, notify, testMail } from ".";

const FROM = "Capstan <no-reply@capstan.test>";
const NEWS = {
  kind: "commission.quote_ready",
  title: "A quote is ready",
  body: "It can be made.",
  href: "/approve/capability-quotes/cq_1",
  letter: { facts: [], action: "Open quote" },
} as const;

let project: TestProject;
let server: MailServer;
beforeEach(async () => {
  [project, server] = await Promise.all([makeProject(), startMailServer()]);
  setSettings({ SMTP_URL: server.url, MAIL_FROM: FROM });
});
afterEach(async () => {
  vi.restoreAllMocks();
  setSettings({ SMTP_URL: undefined, MAIL_FROM: undefined });
  await server.stop();
});

/** Creates this many due emails of the project and returns their ids. */
async function write(count: number): Promise<string[]> {
  const before = await mailIds();
  for (let n = 0; n < count; n++) await makePerson(project.organizationId, "member");
  const news = { ...NEWS, occasion: `${project.organizationId}:${before.length}` };
  await inTransaction((client) =>
    notify(client, project.ctx, { organizationId: project.organizationId }, news),
  );
  return (await mailIds()).filter((id) => !before.includes(id));
}
async function mailIds(): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT mail.id FROM mail JOIN notification ON notification.id = notification_id WHERE organization_id = $1`,
    [project.organizationId],
  );
  return rows.map(({ id }) => id);
}

/** A letter that the mail server holds until the test answers it. */
function heldLetter() {
  let arrive = () => {};
  let answer = (_reaction: MailReaction) => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const answered = new Promise<MailReaction>((resolve) => {
    answer = resolve;
  });
  const react = (isEnd: boolean) => {
    if (isEnd) arrive();
    return answered;
  };
  return { react, arrived, answer: (reaction: MailReaction) => answer(reaction) };
}

async function metric(name: string): Promise<number> {
  const text = String((await metricsAnswer(incoming({ path: "/metrics" }))).body);
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

test("a cause of failure is logged once until sending works again, not for every email and retry", async () => {
  const lines: unknown[] = [];
  const note = (facts: unknown, words: unknown) => void lines.push([words, facts]);
  const ctx = {
    ...project.ctx,
    log: { ...project.ctx.log, warn: note, info: note } as typeof project.ctx.log,
  };
  const { port } = server;
  await server.stop();
  const [first = "", second = ""] = await write(2);
  await attemptMail(ctx, first);
  await attemptMail(ctx, second);
  project.clock.advance(70_000);
  await attemptMail(ctx, first);
  const down = [
    "an email could not be sent and will be tried again",
    { cause: "The mail server could not be reached, or broke off." },
  ];
  expect(lines).toEqual([down]);
  server = await startMailServer({ port });
  project.clock.advance(HOUR_MS);
  await attemptMail(ctx, first);
  expect(lines).toEqual([down, ["email is being sent again", {}]]);
  server.reactWith(() => ({ code: 550, at: "recipient", says: "no mailbox secret-person@example.com" }));
  await attemptMail(ctx, second);
  expect(lines.slice(2)).toEqual([
    [
      "an email could not be delivered and is not tried again",
      { mailId: second, tries: 2, cause: "The mail server refused the email (550)." },
    ],
  ]);
});

test.each([
  ["over smtps", (port: number) => `smtps://localhost:${port}`, { secure: true, ...SELF_SIGNED }],
  [
    "after STARTTLS",
    (port: number) => `smtp://localhost:${port}?starttls=required`,
    { disabledCommands: [], ...SELF_SIGNED },
  ],
])("an untrusted certificate is reported with what to do, %s", async (_name, urlOf, options) => {
  const encrypted = await startMailServer(options);
  setSettings({ SMTP_URL: urlOf(encrypted.port) });
  const outcome = await testMail("ada@example.com");
  expect(outcome).toMatchObject({
    state: "not_sent",
    reason:
      "The certificate of the mail server is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). If an authority of your own signed it, name that authority's file in NODE_EXTRA_CA_CERTS.",
  });
  await encrypted.stop();
});

test("a sender that lost its lease writes nothing, even while the next sender runs", async () => {
  const [mailId = ""] = await write(1);
  const [late, next] = [heldLetter(), heldLetter()];
  let asked = 0; // the server asks twice for each letter: at its recipient, and at its end
  server.reactWith(() => (++asked <= 2 ? late : next).react(asked % 2 === 0));
  const stateOf = async () =>
    (await pool.query("SELECT state, attempts FROM mail WHERE id = $1", [mailId])).rows[0];
  const first = attemptMail(project.ctx, mailId);
  await late.arrived;
  project.clock.advance(HOUR_MS);
  await pool.query("UPDATE mail SET state = 'pending' WHERE id = $1", [mailId]); // as the sweeper does
  const second = attemptMail(project.ctx, mailId);
  await next.arrived;
  late.answer({ code: 550, at: "data" });
  expect(await first).toEqual({ state: "ended" });
  expect(await stateOf()).toEqual({ state: "sending", attempts: 0 });
  next.answer("take");
  expect(await second).toEqual({ state: "ended" });
  expect(await stateOf()).toEqual({ state: "sent", attempts: 1 });
});

test("metrics count waiting and failed emails", { tags: "long" }, async () => {
  const [open, failed] = [await metric("capstan_mail_open"), await metric("capstan_mail_failed")];
  const [first = ""] = await write(2);
  expect(await metric("capstan_mail_open")).toBeGreaterThanOrEqual(open + 2);
  server.reactWith(() => ({ code: 550, at: "recipient" }));
  await attemptMail(project.ctx, first);
  expect(await metric("capstan_mail_failed")).toBeGreaterThanOrEqual(failed + 1);
});

test("a test email arrives, or its failure is explained", async () => {
  expect(await testMail("ada@example.com")).toEqual({ state: "accepted" });
  expect(server.received).toMatchObject([
    { to: ["ada@example.com"], headers: { subject: "Capstan can send email", from: FROM } },
  ]);
  server.reactWith(() => ({ code: 550, at: "recipient", says: "no such mailbox" }));
  expect(await testMail("ada@example.com")).toMatchObject({
    state: "refused",
    reason: expect.stringContaining("550"),
  });
  setSettings({ SMTP_URL: undefined });
  expect(await testMail("ada@example.com")).toBeNull();
});
