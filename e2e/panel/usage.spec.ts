import { readFile } from "node:fs/promises";
import { admin, call, ended, submit, textInput, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, jobPath, jobsPath, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const usagePath = (query: Record<string, string> = {}) => {
  const search = new URLSearchParams(query).toString();
  return `/projects/${world.projectId}/usage${search && `?${search}`}`;
};

test("usage is shown by capability, provider and key, and its chart and its total have the same figure", async ({
  page,
}) => {
  const drawn = await submit({
    capability: "image.generate.v1",
    input: { prompt: "Usage", variantCount: 2 },
  });
  await ended((await submit({ input: textInput("Usage") })).jobId);
  await ended(drawn.jobId);

  await open(page, jobsPath());
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`${usagePath()}$`));
  // Other tests may have run live executions here, and the page opens on the mode with data.
  const mode = page.getByRole("banner").getByRole("group", { name: "Mode" });
  await mode.getByRole("button", { name: "Test" }).click();
  await expect(mode.getByRole("button", { name: "Test" })).toHaveAttribute("aria-pressed", "true");
  const chart = page.getByRole("img", { name: /^Charged per day by capability/ });
  await expect(chart).toBeVisible();
  const groups = page.getByRole("table", { name: /^Usage by capability/ });
  const row = groups.getByRole("row", { name: /^image\.generate\.v1/ });
  await expect(row).toBeVisible();

  // The chart's label and the total of the groups show the same amount.
  const whole = /: (\$[\d.,]+) in total/.exec((await chart.getAttribute("aria-label")) ?? "")?.[1];
  expect(whole).toBeDefined();
  await expect(groups.getByRole("row", { name: /^Total/ })).toContainText(whole ?? "");
  // In every row, work and fee add up to what was charged.
  const names = await groups.getByRole("columnheader").allTextContents();
  for (const line of (await groups.getByRole("row").all()).slice(1)) {
    const cells = await line.locator("th, td").allTextContents();
    const micros = (name: string) => Math.round(Number(cells[names.indexOf(name)]?.replace("$", "")) * 1e6);
    expect(micros("Work") + micros("Fee")).toBe(micros("Charged"));
  }

  await page.getByRole("link", { name: "Provider", exact: true }).click();
  await expect(page.getByRole("table", { name: /^Usage by provider/ })).toContainText("sandbox");
  await page.getByRole("link", { name: "Key or person" }).click();
  await expect(page.getByRole("table", { name: /^Usage by key or person/ })).toBeVisible();
  // Two choices before the navigation ends: the second keeps the first.
  await page.getByRole("link", { name: "Executions", exact: true }).click();
  await page.getByRole("link", { name: "7 days" }).click();
  await expect(page).toHaveURL(/days=7/);
  await expect(page.getByRole("img", { name: /^Executions per day by key or person/ })).toBeVisible();
  await expect(page.getByRole("table", { name: "Executions by day and key or person" })).toBeVisible();
});

test("a project opens on the mode that has activity, and a page says when only the other one has", {
  tag: "@long",
}, async ({ page }) => {
  const { projectId } = admin(
    "project",
    "create",
    "--name",
    unique("Mode"),
    "--organization",
    world.organizationId,
  );
  const body = { context: { projectId }, input: textInput("Mode") };
  const answer = await call("/v1/capabilities/text.general.fast.v1/invoke", {
    key: world.unboundApiKey,
    body,
  });
  expect(answer.status).toBe(200);
  await open(page, `/projects/${projectId}/usage`);
  const mode = page.getByRole("banner").getByRole("group", { name: "Mode" });
  await expect(mode.getByRole("button", { name: "Test" })).toHaveAttribute("aria-pressed", "true");
  await mode.getByRole("button", { name: "Live" }).click();
  await expect(page.getByText("No live activity in this period")).toBeVisible();
  await expect(page.getByText("Test has activity in this period too.")).toBeVisible();
});

test("the chosen mode is kept for the project, and its money pages follow it", { tag: "@long" }, async ({
  page,
}) => {
  await ended((await submit({ input: textInput("Mode") })).jobId);
  await open(page, usagePath());
  const mode = page.getByRole("banner").getByRole("group", { name: "Mode" });
  await mode.getByRole("button", { name: "Live" }).click();
  await expect(mode.getByRole("button", { name: "Live" })).toHaveAttribute("aria-pressed", "true");
  await page.reload();
  await expect(mode.getByRole("button", { name: "Live" })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(page.getByText("No live transactions yet")).toBeVisible();
  await page.getByRole("button", { name: "Show Test" }).click();
  await expect(page.locator("tr[data-entry]").first()).toBeVisible();
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await expect(mode.getByRole("button", { name: "Test" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("table", { name: /^Usage by capability/ })).toBeVisible();
  await open(page, jobsPath());
  await expect(mode).toHaveCount(0);
});

test("the days shown can be exported as CSV with FOCUS columns", { tag: "@long" }, async ({ page }) => {
  const job = await ended((await submit({ input: textInput("Export") })).jobId);
  await open(page, usagePath({ days: "7" }));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile(await download.path(), "utf8")).split("\r\n");
  expect(lines[0]).toMatch(/^BilledCost,EffectiveCost,ListCost,/);
  expect(lines.filter((line) => line.includes(job.jobId)).length).toBe(1);
});

test('a job\'s cost shows the reserved amount, charge and payer, and "unknown" for an unknown amount', {
  tag: "@long",
}, async ({ page }) => {
  const tag = unique("cost");
  const done = await ended((await submit({ input: textInput("Cost"), tags: [tag] })).jobId);
  const lost = await ended(
    (await submit({ input: textInput("Lost"), tags: [tag], model: "sandbox-lost" })).jobId,
  );
  const fact = (name: string) =>
    page
      .getByRole("region", { name: "Cost" })
      .locator("dl > div")
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator("dd");
  const paid = page.locator("dt", { hasText: /^You pay$/ }).locator("xpath=following-sibling::dd[1]");
  await open(page, jobPath(done.jobId));
  await expect(paid).toHaveText(/^\$0\.\d+\s*covered$/);
  await expect(fact("Reserved")).toContainText("settled");
  await expect(fact("Paid by")).toHaveText(/allowance|wallet/i);
  await open(page, jobPath(lost.jobId));
  await expect(paid).toHaveText("Not known yet");
  await expect(fact("Provider cost")).toHaveText("Unknown");
  await expect(fact("Reserved")).toContainText("until a person resolves it");

  await open(page, jobsPath({ tag }));
  await expect(page.getByRole("row").filter({ hasText: "it may have run" })).toContainText("Not known yet");
});

test("usage is accessible and fits a phone, with and without any", { tag: "@long" }, async ({ page }) => {
  await ended((await submit({ input: textInput("Look") })).jobId);
  for (const path of [
    usagePath(),
    usagePath({ days: "90", by: "key", show: "tokens" }),
    usagePath({ by: "provider" }),
  ]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});
