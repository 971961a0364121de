import type { Page } from "@playwright/test";
import { call, textInput, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };

const show = (page: Page, mode: "Test" | "Live") =>
  page.getByRole("banner").getByRole("group", { name: "Mode" }).getByRole("button", { name: mode }).click();

test.describe("an owner", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("an owner tops up the test wallet through the test checkout, and leaves another checkout", {
    tag: "@full",
  }, async ({ page }) => {
    test.slow();
    await enter(page.context(), world.operator);
    await open(page, "/billing");
    await expect(page.getByRole("link", { name: "Billing" })).toHaveAttribute("aria-current", "page");
    await show(page, "Live");
    const live = await page.getByTestId("live-wallet-available").textContent();
    await expect(page.getByText("Top-ups are not available")).toBeVisible();
    await show(page, "Test");
    await page.getByRole("button", { name: "$50", exact: true }).click();
    await expect(page.getByLabel("Amount in US dollars")).toHaveValue("50");
    await page.getByLabel("Amount in US dollars").fill("12.34");
    await page.getByRole("button", { name: "Continue to checkout" }).click();
    await page.waitForURL("**/checkout/test/pmt_*");
    const checkout = new URL(page.url()).pathname;
    await open(page, checkout);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Pay $12.34" }).click();
    await page.waitForURL("**/billing?*result=success*");
    await expect(page.getByRole("status").filter({ hasText: "Paid" })).toContainText(
      "$12.34 was added to the test wallet",
    );
    await expect(page.locator('tr[data-entry="top_up"]').first()).toContainText("+$12.34");
    await show(page, "Live");
    await expect(page.getByTestId("live-wallet-available")).toHaveText(live ?? "");
    await show(page, "Test");

    for (const path of ["/billing", checkout]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(page, path);
      await expectAccessible(page);
      await page.setViewportSize(PHONE);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
    // Opening the same checkout again pays nothing.
    await expect(page.getByText("This payment is complete.")).toBeVisible();

    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, "/billing");
    await page.getByRole("button", { name: "$10", exact: true }).click();
    await page.getByRole("button", { name: "Continue to checkout" }).click();
    await page.waitForURL("**/checkout/test/pmt_*");
    await open(page, new URL(page.url()).pathname);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL("**/billing?*result=canceled*");
    await expect(page.getByRole("status").filter({ hasText: "Not paid" })).toBeVisible();
  });
});

test("a member can page through the transactions but not pay or change anything", { tag: "@long" }, async ({
  page,
}) => {
  const input = textInput("What does it cost?");
  for (let n = 0; n < 26; n++)
    expect((await call("/v1/capabilities/text.general.fast.v1/invoke", { body: { input } })).status).toBe(
      200,
    );
  await open(page, "/billing");
  await show(page, "Test");
  await expect(page.getByText("Only owners and admins can top up")).toBeVisible();
  await expect(page.getByRole("button", { name: "Continue to checkout" })).toHaveCount(0);
  await expect(page.getByRole("combobox", { name: "Pay in" })).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Test wallet" })).toBeVisible();
  await expect(page.locator("tr[data-entry]")).toHaveCount(25);
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL("**/billing?*cursor=*");
  await expect(page.locator("tr[data-entry]").first()).toBeVisible();
  await page.getByRole("link", { name: "Newer" }).click();
  await page.waitForURL((url) => !url.search.includes("cursor"));
  await expect(page.locator("tr[data-entry]")).toHaveCount(25);
});
