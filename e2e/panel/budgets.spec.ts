import type { Page } from "@playwright/test";
import { Job } from "@/server/contract/jobs";
import { admin, call, makePerson, textInput, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

let projectId = "";
let owner = { email: "", password: "" };

// Each test has its own project, so that no other test changes its budget or usage.
test.beforeEach(() => {
  ({ projectId } = admin("project", "create", "--name", "Thrifty", "--organization", world.organizationId));
  owner = makePerson("owner");
});

test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 180_000 });

const PHONE = { width: 390, height: 844 };

async function post(path: string, body: unknown) {
  return call(path, { key: world.unboundApiKey, body });
}

async function submit(model?: string): Promise<Response> {
  return post("/v1/capabilities/text.general.fast.v1/jobs", {
    context: { projectId },
    input: textInput("Is this worth it?"),
    ...(model && { execution: { executionConstraints: { preferredModel: model } } }),
  });
}

/** Runs a job whose charge stays unknown, and returns its id. */
async function lose(): Promise<string> {
  const { jobId } = Job.parse(await (await submit("sandbox-lost")).json());
  for (;;) {
    const job = Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
    if (job.status === "failed") return jobId;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Sets a limit for this project that is below the price of any run. */
async function stopEverything(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Set budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Set budget" });
  await expectAccessible(page);
  await dialog.getByLabel("Limit in US dollars").fill("0.000001");
  await dialog.getByLabel("Period").click();
  await page.getByRole("option", { name: "Total" }).click();
  await dialog.getByRole("button", { name: "Set budget" }).click();
  await expect(dialog).toBeHidden();
}

test("an owner sets a budget, sees spend and alerts, increases the limit, and resolves an unconfirmed charge", {
  tag: "@full",
}, async ({ page }) => {
  await enter(page.context(), owner);
  await open(page, "/");
  const jobId = await lose();
  await open(page, `/projects/${projectId}/budgets`);
  await stopEverything(page);

  const card = page.getByRole("region", { name: "This project" });
  await expect(card).toContainText("Total");
  await expect(card).toContainText("Prevent");
  await expect(card).toContainText(/\$\d+\.\d+ above the limit/);
  expect((await submit()).status).toBe(402);
  await open(page, `/projects/${projectId}/catalog/text.general.fast.v1`);
  const bar = page.getByRole("img", { name: /^This project, total: .*; this run takes up to \$0\.\d+$/ });
  await expect(bar).toBeVisible();
  await expect(page.getByText(/^\$\d+\.\d+ above the limit$/)).toBeVisible();
  await open(page, `/projects/${projectId}/budgets`);
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("region", { name: "Alerts" })).toContainText("100%", { timeout: 2_000 });
  }).toPass();

  await page.getByRole("button", { name: "Temporary increase: This project, total" }).click();
  const raise = page.getByRole("dialog", { name: "Temporary increase" });
  await raise.getByLabel("Reason").fill("A launch");
  await raise.getByRole("button", { name: "Increase limit" }).click();
  await expect(raise).toBeHidden();
  await expect(card).toContainText("Increased by $5.00 until");
  expect((await submit()).status).toBe(200);

  await expectAccessible(page);
  const size = page.viewportSize();
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  if (size) await page.setViewportSize(size);

  const holds = page.getByRole("region", { name: "Reserved funds" });
  await holds.getByRole("button", { name: `Resolve charge of ${jobId}` }).click();
  const resolve = page.getByRole("dialog", { name: "Resolve charge" });
  await expectAccessible(page);
  await resolve.getByLabel("Evidence").fill("It is on the invoice.");
  await resolve.getByRole("button", { name: "Resolve" }).click();
  await expect(resolve).toBeHidden();
  await expect(holds.getByTitle(jobId)).toHaveCount(0);
  const job = Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
  expect(job.chargeResolution).toMatchObject({ outcome: "charged" });

  await page.getByRole("button", { name: "Turn off: This project, total" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Turn off" }).click();
  await expect(card).toContainText("Off");
  expect((await submit()).status).toBe(200);
});

test("a run that a budget stops shows the full limit, the amount it needs, and where to raise the limit", {
  tag: "@full",
}, async ({ page }) => {
  await enter(page.context(), owner);
  await open(page, `/projects/${projectId}/budgets`);
  await stopEverything(page);
  await open(page, `/projects/${projectId}/catalog/text.general.fast.v1`);
  await page.getByLabel("Content").first().fill("Is this worth it?");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const refused = page.locator("[data-run]").getByRole("alert");
  await expect(refused).toContainText("BudgetExceeded");
  await expect(
    refused.getByRole("img", { name: /^This project, total: .* this run takes up to \$/ }),
  ).toBeVisible();
  await expect(refused).toContainText("above the limit");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectNoSidewaysScroll(page);
  await expect(refused.getByRole("link", { name: "Raise the limit" })).toHaveAttribute(
    "href",
    `/projects/${projectId}/budgets`,
  );
});

test("a reader without the right to set budgets can view them", { tag: "@long" }, async ({ page }) => {
  await enter(page.context(), world.member);
  await open(page, "/");
  await page.getByRole("link", { name: "Budgets" }).click();
  await expect(page.getByRole("heading", { name: "Budgets", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Reserved funds" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Set budget" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save limits" })).toHaveCount(0);
  await expectAccessible(page);
});
