import type { Page } from "@playwright/test";
import { admin, makePerson, unique } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open, test } from "./panel";

test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 180_000 });

async function look(page: Page, name: string): Promise<void> {
  const wide = { width: 1280, height: 900 };
  for (const size of [wide, { width: 390, height: 844 }]) {
    await page.setViewportSize(size);
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await keepLooks(page, name);
  }
  await page.setViewportSize(wide);
}

test("an operator sets limits, the owner sees usage and turns external actions off; an archived project is restored", {
  tag: "@long",
}, async ({ page, browser }) => {
  const name = unique("Quarry");
  const { organizationId } = admin("organization", "create", "--name", name);
  const { projectId } = admin("project", "create", "--name", "Pit", "--organization", organizationId);
  const owner = makePerson("owner", { organizationId });
  const operator = makePerson("viewer", { isOperator: true, organizationId });

  await enter(page.context(), operator);
  await open(page, "/operator/plans");
  await page.getByRole("button", { name: `Edit plan of ${name}` }).click();
  await page.getByLabel("Active projects").fill("1");
  await page.getByLabel("Unfinished jobs").fill("40");
  await look(page, "plan-dialog");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.locator(`[data-organization="${organizationId}"]`);
  await expect(row).toContainText("1 of 1");
  await expect(row).toContainText("0 of 40");
  await look(page, "operator-plans");

  const context = await browser.newContext();
  const own = await context.newPage();
  await enter(own.context(), owner);
  await open(own, `/projects/${projectId}/organization?view=settings`);
  await expect(own.locator('[data-limit="projects"]')).toContainText("At limit");
  await own.getByRole("button", { name: "Turn off" }).click();
  await own.getByRole("alertdialog").getByRole("button", { name: "Turn off" }).click();
  await expect(own.getByText("External actions turned off")).toBeVisible();
  await expect(own.getByRole("button", { name: "Turn on" })).toBeVisible();
  await look(own, "organization-settings");

  await own.getByRole("tab", { name: "Projects" }).click();
  await own.getByRole("button", { name: "Archive Pit" }).click();
  await own.getByRole("alertdialog").getByRole("button", { name: "Archive" }).click();
  await expect(own.getByRole("button", { name: "Restore Pit" })).toBeVisible();
  await open(own, "/");
  await own.waitForURL(`**/projects/${projectId}/jobs`);
  await expect(own.getByText("This project is archived")).toBeVisible();
  await own.getByRole("link", { name: "Organization → Projects" }).click();
  await own.getByRole("button", { name: "Restore Pit" }).click();
  await expect(own.getByRole("button", { name: "Archive Pit" })).toBeVisible();
  await expect(own.getByText("This project is archived")).toBeHidden();
  await context.close();
});
