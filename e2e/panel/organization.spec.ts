import type { Browser, Page } from "@playwright/test";
import { admin, call, makePerson, unique, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open, test } from "./panel";

test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 240_000 });

const PHONE = { width: 390, height: 844 };

/** The link in the latest email to a person, as the outbox of an installation without a mail server shows it. */
async function linkFor(browser: Browser, operator: { email: string; password: string }, email: string) {
  const context = await browser.newContext({ baseURL: world.baseUrl });
  const page = await context.newPage();
  await enter(context, operator);
  const ask = async (path: string, input: object) => {
    const query = new URLSearchParams({ input: JSON.stringify(input) });
    return (await (await page.request.get(`/api/trpc/${path}?${query}`)).json()).result.data;
  };
  const { items } = await ask("notifications.outbox", { limit: 25 });
  const mail = items.find((each: { recipient: string }) => each.recipient === email);
  const { text } = await ask("notifications.outboxMail", { mail_id: mail.mailId });
  await context.close();
  const href = /\/invitation#\S+/.exec(text)?.[0];
  if (!href) throw new Error("The letter holds no link.");
  return href;
}

async function look(page: Page, name: string): Promise<void> {
  await expectAccessible(page);
  const size = page.viewportSize();
  await keepLooks(page, name);
  await page.setViewportSize(PHONE);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await keepLooks(page, name);
  if (size) await page.setViewportSize(size);
}

test("an owner invites a person, who joins; their role is changed, a key is rotated, and the log has all of it", {
  tag: "@full",
}, async ({ page, browser }) => {
  const { organizationId } = admin("organization", "create", "--name", unique("Harbour"));
  const { projectId } = admin("project", "create", "--name", "Quay", "--organization", organizationId);
  const old = admin("key", "create", "--name", "Crane", "--project", projectId);
  const owner = makePerson("owner", { organizationId });
  const operator = makePerson("viewer", { isOperator: true, organizationId });
  const email = `${unique("new")}@capstan.localhost`;

  await enter(page.context(), owner);
  await open(page, `/projects/${projectId}/organization`);
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite member" });
  await expectAccessible(page);
  await dialog.getByLabel("Email").fill(email);
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("region", { name: "Invitations" })).toContainText(email);
  await look(page, "people");

  const href = await linkFor(browser, operator, email);
  const context = await browser.newContext({ baseURL: world.baseUrl });
  const guest = await context.newPage();
  await open(guest, href);
  await expect(guest.getByRole("heading", { level: 1 })).toContainText("Join Harbour");
  expect(guest.url()).not.toContain("#");
  await look(guest, "invitation");
  await guest.getByLabel("Password").fill("a password of this guest");
  await guest.getByRole("button", { name: "Accept invitation" }).click();
  await guest.waitForURL("**/jobs");
  await open(guest, `/projects/${projectId}/organization`);
  await expect(guest.getByRole("button", { name: "Invite" })).toHaveCount(0);
  await expect(guest.getByRole("tab", { name: "Audit log" })).toHaveCount(0);
  await expect(guest.getByRole("region", { name: "Members" })).toContainText(email);
  await open(guest, href);
  await expect(guest.getByRole("alert").filter({ hasText: "accepted" })).toBeVisible();

  await page.reload();
  await expect(page.getByRole("region", { name: "Invitations" })).toContainText("No pending invitations.");
  await page.getByLabel(`Role of ${email}`).click();
  await page.getByRole("option", { name: "viewer" }).click();
  await expect(page.getByLabel(`Role of ${email}`)).toContainText("viewer");
  await open(guest, `/projects/${projectId}/organization?view=keys`);
  await expect(guest.getByRole("region", { name: "All API keys" })).toContainText("Crane");
  await expect(guest.getByRole("button", { name: "Rotate Crane" })).toHaveCount(0);
  await context.close();

  await page.getByRole("tab", { name: "Projects" }).click();
  await expect(page.getByRole("region", { name: "Projects and environments" })).toContainText("Quay");
  await look(page, "projects");

  await page.getByRole("tab", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Rotate Crane" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click();
  const shown = page.getByRole("dialog", { name: "Copy your key now" });
  const key = (await shown.getByTestId("new-key").textContent()) ?? "";
  await expectAccessible(page);
  await shown.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("region", { name: "All API keys" })).toContainText("Rotated");
  for (const each of [key, old.apiKey]) expect((await call("/v1/jobs", { key: each })).status).toBe(200);
  await look(page, "keys");

  await page.getByRole("tab", { name: "Audit log" }).click();
  const log = page.getByRole("region", { name: "Audit log" });
  for (const action of ["key.rotated", "member.role_changed", "invitation.accepted", "invitation.sent"])
    await expect(log).toContainText(action);
  await expect(log).not.toContainText(key.slice(30));
  await look(page, "log");
  await log.getByLabel("Action").fill("key");
  await log.getByRole("button", { name: "Filter" }).click();
  await expect(log).not.toContainText("invitation.sent");
  await expect(log).toContainText("key.rotated");
  const download = page.waitForEvent("download");
  await log.getByRole("link", { name: "Download CSV" }).click();
  expect((await download).suggestedFilename()).toMatch(/^audit-log-\d{4}-\d{2}-\d{2}\.csv$/);
});

test("a person without an organization creates one", { tag: "@long" }, async ({ page }) => {
  const { organizationId } = admin("organization", "create", "--name", unique("Short"));
  makePerson("owner", { organizationId });
  admin("project", "create", "--name", "Stay", "--organization", organizationId);
  const person = makePerson("member", { organizationId });
  await enter(page.context(), person);
  await open(page, "/");
  await page.getByRole("link", { name: "Organization" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "Welcome to Capstan" })).toBeVisible();
  await look(page, "welcome");
  await page.getByLabel("Organization").fill("Own");
  await page.getByLabel("First project").fill("First");
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL("**/jobs");
  await page.getByRole("link", { name: "Organization" }).click();
  await expect(page.getByRole("heading", { name: "Own", level: 1 })).toBeVisible();
});
