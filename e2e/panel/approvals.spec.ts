import type { Page } from "@playwright/test";
import { Job } from "@/server/contract/jobs";
import { quoted, signedIn } from "../needs";
import { admin, call, makePerson, textInput, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, showTab, test } from "./panel";

// This test has its own project, because the threshold must not affect jobs of parallel tests.
let projectId = "";
let owner = { email: "", password: "" };

test.beforeAll(() => {
  ({ projectId } = admin("project", "create", "--name", "Guarded", "--organization", world.organizationId));
  owner = makePerson("owner");
});

// Only owners and admins change the settings, and the other tests' account is a member.
test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 180_000 });

const jobPath = (jobId: string) => `/projects/${projectId}/jobs/${jobId}`;

async function setThreshold(page: Page, dollars: string): Promise<void> {
  await open(page, `/projects/${projectId}/settings`);
  const guarded = page.getByRole("checkbox", { name: "Require approval for expensive jobs" });
  if (!(await guarded.isChecked())) await guarded.click();
  await page.getByLabel("Threshold in US dollars").fill(dollars);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Settings saved").last()).toBeVisible();
}

async function submit(): Promise<string> {
  const answer = await call("/v1/capabilities/text.general.fast.v1/jobs", {
    key: world.unboundApiKey,
    body: { context: { projectId }, input: textInput("Is this worth it?") },
  });
  return Job.parse(await answer.json()).jobId;
}

async function getJob(jobId: string): Promise<Job> {
  return Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
}

test("a waiting job shows its reason and cost and can be approved or rejected", { tag: "@full" }, async ({
  page,
}) => {
  await enter(page.context(), owner);
  await open(page, "/");
  await setThreshold(page, "0");
  await expectAccessible(page);
  const approved = await submit();
  const rejected = await submit();

  await open(page, jobPath(approved));
  const status = page.locator("h1 + [role=status]");
  await expect(status).toHaveText("Awaiting approval");
  const main = page.getByRole("main");
  await expect(main).toContainText(
    "The estimate is above the project's approval threshold. A person must approve it.",
  );
  await expect(main.getByText("Due", { exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Input", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve" })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole("button", { name: "Approve" }).click();
  const question = page.getByRole("alertdialog", { name: "Approve this job?" });
  await expect(question).toContainText("$");
  await expectAccessible(page);
  await question.getByRole("button", { name: "Approve job" }).click();
  await expect(status).toHaveText("Succeeded", { timeout: 45_000 });
  await showTab(page, "Timeline");
  await expect(page.getByRole("log")).toContainText("Approved");

  await open(page, jobPath(rejected));
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Reject job" }).click();
  await expect(status).toHaveText("Canceled");
  await showTab(page, "Timeline");
  await expect(page.getByRole("log")).toContainText("Rejected");
  await expectAccessible(page);
  expect((await getJob(rejected)).error?.code).toBe("ApprovalRejected");

  // Nothing ran, so the same request can be retried here.
  await page.getByRole("button", { name: "Retry job" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Retry job" }).click();
  await expect(page.getByText("Retry of")).toBeVisible();
  await expect(status).toHaveText("Awaiting approval");
});

test("the approvals page lists jobs and commissions with price, requester and deadline", {
  tag: "@long",
}, async ({ page, browser }) => {
  const inbox = admin("project", "create", "--name", "Inbox", "--organization", world.organizationId);
  const room = `/projects/${inbox.projectId}/approvals`;
  const door = page.getByRole("navigation", { name: "Panel" }).getByRole("link", { name: "Approvals" });
  await enter(page.context(), owner);
  await open(page, room);
  await expect(page.getByText("You're all caught up")).toBeVisible();
  await expect(door).toHaveAccessibleName("Approvals");
  await expectAccessible(page);

  await open(page, `/projects/${inbox.projectId}/settings`);
  await page.getByRole("checkbox", { name: "Require approval for expensive jobs" }).click();
  await page.getByLabel("Threshold in US dollars").fill("0");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Settings saved").last()).toBeVisible();
  const answer = await call("/v1/capabilities/text.general.fast.v1/jobs", {
    key: world.unboundApiKey,
    body: { context: { projectId: inbox.projectId }, input: textInput("Is this worth it?") },
  });
  const { jobId } = Job.parse(await answer.json());
  const operator = await signedIn(browser, world.operator);
  const { summary, path } = await quoted(operator.page, inbox.projectId);
  await operator.context.close();

  for (const size of [
    { width: 390, height: 844 },
    { width: 1280, height: 800 },
  ]) {
    await page.setViewportSize(size);
    await open(page, room);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
  await expect(door).toHaveAccessibleName("Approvals 2 waiting");
  const items = page.getByRole("list", { name: /^Approvals/ }).locator("> li");
  const chosen = page.getByRole("region", { name: "Chosen approval" });
  // A phone shows the list first, and then the chosen item.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(chosen).toBeHidden();
  await items.nth(0).getByRole("button").click();
  await expect(chosen.getByRole("button", { name: "Approve" })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(items).toHaveCount(2);
  // A job waits seven days and a quote fourteen, so the job comes first, with its request beside it.
  await expect(items.nth(0)).toContainText("Is this worth it?");
  for (const words of [
    "The estimate is above the project's approval threshold. A person must approve it.",
    "Is this worth it?",
    "Estimate",
    "at most",
    "sandbox/",
    "API key",
    "in 7 days",
  ])
    await expect(chosen).toContainText(words);

  // The keyboard alone is enough: down to the quote and up again, approve, undo, and approve for good.
  const commission = items.filter({ hasText: summary });
  await items.nth(0).getByRole("button").press("j");
  await expect(commission.getByRole("button")).toBeFocused();
  for (const words of [summary, "$1,250.00", "API key", "in 14 days"])
    await expect(chosen).toContainText(words);
  await page.keyboard.press("k");
  await page.keyboard.press("a");
  await expect(items).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(items).toHaveCount(2);
  expect((await getJob(jobId)).status).toBe("awaiting_approval");
  await items.nth(0).getByRole("button").click();
  await chosen.getByRole("button", { name: "Approve" }).click();
  await expect(items).toHaveCount(1);
  // Leaving the page sends the decision at once.
  await page.getByRole("navigation", { name: "Panel" }).getByRole("link", { name: "Catalog" }).click();
  await expect.poll(async () => (await getJob(jobId)).status, { timeout: 60_000 }).toBe("succeeded");
  await open(page, room);
  await expect(door).toHaveAccessibleName("Approvals 1 waiting");
  await chosen.getByRole("link", { name: "Review and pay" }).click();
  await page.waitForURL(`**${path}`);
});
