import { bulkEnded, submitBulk, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const listPath = `/projects/${world.projectId}/bulks`;
const bulkPath = (bulkId: string) => `${listPath}/${bulkId}`;
const times = (count: number, words: string) =>
  Array.from({ length: count }, (_, place) => `${words} ${place}`);

test("a running bulk updates its bar, counts, rate and time left until it ends", async ({ page }) => {
  const { bulkId } = await submitBulk(times(60, "[slow 1500] Number"), { concurrency: 4 });
  await page.clock.install();
  await open(page, bulkPath(bulkId));
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  const bar = page.getByRole("progressbar", { name: "Finished items" });
  await expect(bar).toHaveAttribute("aria-valuemax", "60");
  await expect(page.getByTestId("rate")).toHaveText(/per/);
  await expect(page.getByTestId("eta")).toHaveText(/^about /);

  await expect(page.locator("h1 + [role=status]")).toHaveText("Succeeded", { timeout: 90_000 });
  await expect(bar).toHaveAttribute("aria-valuenow", "60");
  await expect(page.locator("[data-count=succeeded]")).toContainText("60");
  await expect(page.getByText("Live", { exact: true })).toBeHidden();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("pinned.bulk")) asked++;
  });
  await page.clock.runFor(60_000);
  expect(asked).toBe(0);
});

test("items are paged and filtered by status in the URL, and each links to its record", {
  tag: "@long",
}, async ({ page }) => {
  const { bulkId } = await submitBulk([...times(54, "Number"), "[refuse] This", "[lost] That"], {
    concurrency: 16,
  });
  const bulk = await bulkEnded(bulkId);
  expect(bulk).toMatchObject({ status: "partial", safelyRetryable: 1 });
  await open(page, bulkPath(bulkId));
  const rows = page.getByRole("table").locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(50);
  await expect(rows.first()).toContainText("item-001");
  await page.getByRole("link", { name: "Next" }).click();
  await expect(rows).toHaveCount(6);
  await expect(rows.last()).toContainText("item-056");
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(rows).toHaveCount(50);

  await page.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: /^Ambiguous/ }).click();
  await expect(page).toHaveURL(/status=ambiguous$/);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("Not safe to retry: it may have run");
  await rows.click();
  await expect(page).toHaveURL(new RegExp(`/pinned/${bulk.items[55]?.receiptId}$`));
  await page.getByRole("link", { name: bulkId }).click();
  await expect(page).toHaveURL(new RegExp(`${bulkPath(bulkId)}$`));
});

test("a canceled bulk sends no more items", { tag: "@long" }, async ({ page }) => {
  const { bulkId } = await submitBulk(times(200, "[slow 2000] Number"), { concurrency: 2 });
  await open(page, bulkPath(bulkId));
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel bulk" }).click();
  await expect(page.locator("h1 + [role=status]")).toHaveText(/Partly succeeded|Failed/, { timeout: 60_000 });
  const { counts } = await bulkEnded(bulkId);
  expect(counts.canceled).toBeGreaterThan(150);
  expect(counts.queued + counts.running).toBe(0);
  await expect(page.locator("[data-count=canceled]")).toContainText(String(counts.canceled));
});

test("only the safely retryable items are retried, as a new bulk", { tag: "@long" }, async ({ page }) => {
  const { bulkId } = await submitBulk(["Fine", "[refuse] One", "[refuse] Two", "[lost] Three"]);
  await bulkEnded(bulkId);
  await open(page, bulkPath(bulkId));
  await page.getByRole("button", { name: "Retry 2 items" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Retry items" }).click();
  await expect(page).not.toHaveURL(new RegExp(bulkId));
  await expect(page.getByRole("link", { name: bulkId })).toBeVisible();
  await expect(page.locator("h1 + [role=status]")).toHaveText("Failed", { timeout: 60_000 });
  const rows = page.getByRole("table").locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("item-002");
});

test("running and finished bulks are accessible and fit a phone", { tag: "@long" }, async ({ page }) => {
  const over = await submitBulk(["Fine", "[refuse] One", "[lost] Two"]);
  await bulkEnded(over.bulkId);
  const running = await submitBulk(times(200, "[slow 4000] Number"), { concurrency: 2 });
  for (const path of [listPath, bulkPath(running.bulkId), bulkPath(over.bulkId)]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
  await open(page, bulkPath(running.bulkId));
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel bulk" }).click();
  await expect(page.getByText("Live", { exact: true })).toBeHidden();
});
