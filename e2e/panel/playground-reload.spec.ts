import type { Page } from "@playwright/test";
import { catalogPath, expect, open, scriptRuns, test } from "./panel";

const TEXT = "text.general.fast.v1";

async function choose(page: Page, label: string, option: string | RegExp) {
  await page.getByLabel(label, { exact: true }).click();
  await page.getByRole("option", { name: option }).click();
}

async function openSlow(page: Page, how: string) {
  await open(page, catalogPath(TEXT));
  await choose(page, "Run mode", how);
  await choose(page, "Model", /slow/i);
}

/** Collects the bodies of the requests by which the page starts an execution. */
function countRuns(page: Page) {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (/catalog\.(submit|invoke)/.test(request.url())) sent.push(request.postData() ?? "");
  });
  return sent;
}

const run = (page: Page) => page.locator("[data-run]");
const record = (page: Page) => page.getByRole("link", { name: "Record and receipt" });

async function reload(page: Page) {
  await page.reload();
  await scriptRuns(page);
}

test("a durable job is followed to its end after a reload", { tag: "@long" }, async ({ page }) => {
  const sent = countRuns(page);
  await openSlow(page, "Durable job");
  await page.getByRole("button", { name: "Submit job" }).click();
  const href = await record(page).getAttribute("href");
  await reload(page);
  await expect(record(page)).toHaveAttribute("href", href ?? "");
  await expect(run(page)).toHaveAttribute("data-run", "ended", { timeout: 45_000 });
  await expect(page.getByRole("region", { name: "Output", exact: true })).toBeVisible();
  expect(sent).toHaveLength(1);
  await reload(page);
  await expect(page.getByText("No results yet")).toBeVisible();
});

test("a synchronous run is found by its key after a reload", { tag: "@long" }, async ({ page }) => {
  const sent = countRuns(page);
  await openSlow(page, "Wait for result");
  const left = page.waitForRequest(/catalog\.invoke/);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await left;
  await reload(page);
  await expect(run(page)).toHaveAttribute("data-run", /sending|running/);
  await expect(record(page)).toBeVisible();
  await expect(run(page)).toHaveAttribute("data-run", "ended", { timeout: 45_000 });
  await expect(page.getByRole("region", { name: "Output", exact: true })).toBeVisible();
  expect(sent).toHaveLength(1);
});

test("a stream is read from its beginning after a reload", { tag: "@long" }, async ({ page }) => {
  const sent = countRuns(page);
  await openSlow(page, "Stream");
  await page.getByRole("button", { name: "Stream", exact: true }).click();
  const stream = page.locator("[data-stream]");
  await expect(stream).toContainText(/\w{3}/);
  const words = (await stream.textContent()) ?? "";
  await reload(page);
  await expect(stream).toContainText(words);
  await expect(run(page)).toHaveAttribute("data-run", "ended", { timeout: 45_000 });
  expect(sent).toHaveLength(1);
});

test("a run whose connection breaks is found again, without a second run", async ({ page }) => {
  const sent = countRuns(page);
  await openSlow(page, "Wait for result");
  await page.route(/catalog\.invoke/, async (route) => {
    await route.fetch().catch(() => undefined); // the request arrives, but its response does not
    await route.abort("connectionreset");
  });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(record(page)).toBeVisible({ timeout: 45_000 });
  await expect(run(page)).toHaveAttribute("data-run", "ended", { timeout: 45_000 });
  await expect(page.getByRole("region", { name: "Output", exact: true })).toBeVisible();
  await expect(run(page).getByRole("alert")).toHaveCount(0);
  expect(sent).toHaveLength(1);
});
