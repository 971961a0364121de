import type { Page } from "@playwright/test";
import { ended, submit, textInput, unique } from "../world";
import {
  catalogPath,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  jobPath,
  jobsPath,
  keepLooks,
  open,
  test,
} from "./panel";

const LOST = "Connection lost, retrying";

/** Opens the page of a job that runs for a while. */
async function openRunningJob(page: Page) {
  const subject = unique("slow");
  const job = await submit({ input: textInput(subject), model: "sandbox-slow" });
  await open(page, jobPath(job.jobId));
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  return { ...job, subject };
}

const ran = (page: Page) =>
  page.locator("dt", { hasText: /^Run time$/ }).locator("xpath=following-sibling::dd[1]");

/** Simulates an unreachable server: its address refuses connections, while the device is online. */
const takeServerAway = (page: Page) => page.route("**/*", (route) => route.abort("connectionrefused"));
const bringServerBack = (page: Page) => page.unrouteAll({ behavior: "ignoreErrors" });

test("the page of a running job reports a lost connection, stops its clock and recovers", async ({
  page,
}) => {
  await page.clock.install();
  const job = await openRunningJob(page);
  await takeServerAway(page);
  await page.clock.runFor(10_000);
  await expect(page.getByText(LOST)).toBeVisible();
  await expect(page.getByText("Live", { exact: true })).toBeHidden();
  await expect(page.getByText(/^Paused, as of /)).toBeVisible();
  await expect(async () => {
    const before = await ran(page).textContent();
    await page.clock.runFor(30_000);
    expect(await ran(page).textContent()).toBe(before);
  }).toPass();
  await expect(page.getByText(LOST)).toBeVisible();

  await ended(job.jobId);
  await bringServerBack(page);
  await page.clock.runFor(10_000);
  await expect(page.getByText(LOST)).toBeHidden();
  await expect(page.locator("h1 + [role=status]")).toHaveText("Succeeded");
});

test("an offline device shows the same notice, and a link opens once it is online again", {
  tag: "@long",
}, async ({ page, context }) => {
  const { subject } = await openRunningJob(page);
  await context.setOffline(true);
  await expect(page.getByText(LOST)).toBeVisible();
  await page.getByRole("link", { name: "Catalog", exact: true }).click();
  await expect(page.getByRole("button", { name: "Retry", exact: true })).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(subject);
  await context.setOffline(false);
  await page.waitForURL(`**${catalogPath()}`);
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  await expect(page.getByText(LOST)).toBeHidden();
});

test("a link followed while the server is unreachable shows an error with Retry, and opens once the server responds", {
  tag: "@long",
}, async ({ page }) => {
  await open(page, jobsPath());
  await takeServerAway(page);
  await page.getByRole("link", { name: "Catalog", exact: true }).click();
  await expect(page.getByText(LOST)).toBeVisible();
  await expect(page.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Retry", exact: true }).click();
  await expect(page.getByText(LOST)).toBeVisible();
  await bringServerBack(page);
  await page.waitForURL(`**${catalogPath()}`);
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  await expect(page.getByText(LOST)).toBeHidden();
});

test("the notice of a lost connection is accessible and fits a phone", { tag: "@long" }, async ({
  page,
  context,
}) => {
  await openRunningJob(page);
  await context.setOffline(true);
  await expect(page.getByText(LOST)).toBeVisible();
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await keepLooks(page, "connection");
  }
  await page.emulateMedia({ forcedColors: "active" });
  await expect(page.getByText(LOST)).toBeVisible();
  await expectNoSidewaysScroll(page);
  await keepLooks(page, "connection-forced");
});
