import { call, makePerson, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

// Operators have their own notifications, and the other tests' account is a member.
test.describe.configure({ timeout: 120_000 });

test("the bell opens a person's notifications, on a desktop and on a phone", { tag: "@full" }, async ({
  page,
}) => {
  await open(page, `/projects/${world.projectId}/jobs`);
  await page.getByRole("link", { name: /^Notifications/ }).click();
  await page.waitForURL("**/notifications");
  await expect(page.getByRole("heading", { level: 1, name: "Notifications" })).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("link", { name: /^Notifications/ })).toHaveCount(1);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});

test.describe("notifications for operators", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("a customer's submission notifies an operator: by the bell, in the list, and by a stored email", {
    tag: "@full",
  }, async ({ page }) => {
    const operator = makePerson("owner", { isOperator: true });
    const summary = `Read maps of the sea <b>${Date.now()}</b>`;
    const made = await call("/v1/capability-requests", {
      body: { schemaVersion: "service.capability-request.v1", summary, need: "Depths as numbers." },
    });
    const { id } = await made.json();
    const submitted = await call(`/v1/capability-requests/${id}/submit`, { body: {} });
    expect(submitted.status).toBe(200);

    await enter(page.context(), operator);
    await open(page, "/");
    await page.getByRole("link", { name: /^Notifications, \d+ unread$/ }).click();
    await page.waitForURL("**/notifications");
    const line = page.getByRole("listitem").filter({ hasText: summary });
    await expect(line).toContainText("Unread:");
    await expectAccessible(page);
    await line.getByRole("button", { name: /^Mark as read/ }).click();
    await expect(line).not.toContainText("Unread:");
    await expect(line.getByRole("link")).toHaveAttribute("href", `/operator/requests/${id}`);

    await open(page, "/operator/outbox");
    const mail = page.getByRole("row").filter({ hasText: operator.email }).filter({ hasText: summary });
    await expect(mail).toContainText("Stored");
    await mail.getByRole("button", { name: /^Show email/ }).click();
    const shown = page.getByRole("dialog").frameLocator("iframe");
    await expect(shown.getByRole("link", { name: "Open request" })).toHaveAttribute(
      "href",
      new RegExp(`/operator/requests/${id}$`),
    );
    await expect(shown.getByRole("heading", { level: 1 })).toContainText(summary);
    await page.getByRole("tab", { name: "Plain text" }).click();
    await expect(page.getByRole("tabpanel")).toContainText("because you are an operator");
  });

  test("operators open the outbox from the account menu, and no one else can", { tag: "@long" }, async ({
    page,
    browser,
  }) => {
    const operator = makePerson("owner", { isOperator: true });
    await enter(page.context(), operator);
    await open(page, "/");
    await page.getByRole("button", { name: "Account:" }).click();
    await page.getByRole("menuitem", { name: "Outbox" }).click();
    await page.waitForURL("**/operator/outbox");
    await expect(page.getByRole("heading", { level: 1, name: "Outbox" })).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);

    const other = await browser.newPage({ baseURL: world.baseUrl });
    await enter(other.context(), world.member);
    await open(other, "/");
    expect((await other.goto("/operator/outbox"))?.status()).toBe(404);
    await other.close();
  });
});
