import { Job } from "@/server/contract/jobs";
import { admin, call, makePerson, textInput, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

let projectId = "";
let owner = { email: "", password: "" };

// A project of its own for each: what it counts, and what stands of its budget, is of that test alone.
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

/** A job that nobody knows the charge of. */
async function lose(): Promise<string> {
  const { jobId } = Job.parse(await (await submit("sandbox-lost")).json());
  for (;;) {
    const job = Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
    if (job.status === "failed") return jobId;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

test("an owner sets a budget, sees it used and told of, raises it, and resolves a charge that nobody knew", async ({
  page,
}) => {
  await enter(page.context(), owner);
  await open(page, "/");
  const jobId = await lose();
  await open(page, `/projects/${projectId}/budgets`);
  await page.getByRole("button", { name: "Set a budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a budget" });
  await expectAccessible(page);
  await dialog.getByLabel("Ceiling in US dollars").fill("0.000001");
  await dialog.getByLabel("Period").click();
  await page.getByRole("option", { name: "In total" }).click();
  await dialog.getByRole("button", { name: "Set budget" }).click();
  await expect(dialog).toBeHidden();

  const card = page.getByRole("region", { name: "This project" });
  await expect(card).toContainText("In total");
  await expect(card).toContainText("Prevent");
  await expect(card).toContainText("$0.00 left");
  await expect(
    card.getByRole("img", { name: /^Course of This project, in total: .* reserved/ }),
  ).toBeVisible();
  expect((await submit()).status).toBe(402);
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("region", { name: "Alerts" })).toContainText("100 %", { timeout: 2_000 });
  }).toPass();

  await page.getByRole("button", { name: "Raise for a while: This project, in total" }).click();
  const raise = page.getByRole("dialog", { name: "Raise the budget for a while" });
  await raise.getByLabel("Reason").fill("A launch");
  await raise.getByRole("button", { name: "Raise" }).click();
  await expect(raise).toBeHidden();
  await expect(card).toContainText("Raised by $5.00 until");
  expect((await submit()).status).toBe(200);

  await expectAccessible(page);
  const size = page.viewportSize();
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  if (size) await page.setViewportSize(size);

  const holds = page.getByRole("region", { name: "Reserved now" });
  await holds.getByRole("button", { name: `Resolve the charge of ${jobId}` }).click();
  const resolve = page.getByRole("dialog", { name: "Resolve the charge" });
  await expectAccessible(page);
  await resolve.getByLabel("How do you know?").fill("It is on the invoice.");
  await resolve.getByRole("button", { name: "Resolve" }).click();
  await expect(resolve).toBeHidden();
  await expect(holds).not.toContainText(jobId);
  const job = Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
  expect(job.chargeResolution).toMatchObject({ outcome: "charged" });

  await page.getByRole("button", { name: "Switch off: This project, in total" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Switch off" }).click();
  await expect(card).toContainText("Off");
  expect((await submit()).status).toBe(200);
});

test("who may not set budgets reads them", async ({ page }) => {
  await enter(page.context(), world.member);
  await open(page, "/");
  await page.getByRole("link", { name: "Budgets" }).click();
  await expect(page.getByRole("heading", { name: "Budgets", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Reserved now" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Set a budget" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save limits" })).toHaveCount(0);
  await expectAccessible(page);
});
