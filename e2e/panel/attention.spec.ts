import { getJob, makePerson, submit, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, jobPath, open, test } from "./panel";

// Only operators see this page, and the other tests' account is a member.
test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 120_000 });

let operator = { email: "", password: "" };
test.beforeAll(() => {
  operator = makePerson("owner", { isOperator: true });
});

test("a paid result that cannot be processed waits for an operator, who accepts it", {
  tag: "@full",
}, async ({ page }) => {
  const { jobId } = await submit({
    capability: "image.generate.v1",
    model: "sandbox-garbled",
    input: { prompt: "Four doors", sheet: { rows: 2, columns: 2, slice: true } },
  });
  await expect.poll(async () => (await getJob(jobId)).status, { timeout: 60_000 }).toBe("needs_attention");

  await enter(page.context(), operator);
  await open(page, "/");
  await page.getByRole("button", { name: "Account:" }).click();
  await page.getByRole("menuitem", { name: "Needs attention" }).click();
  await page.waitForURL("**/attention");
  const card = page.locator(`tr[data-job="${jobId}"]`);
  await expect(card).toContainText("Stored");
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await card.getByRole("button", { name: "Accept" }).click();
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Accept" }).click();
  await expect(card).toHaveCount(0);
  await open(page, jobPath(jobId));
  await expect(page.locator("h1 + [role=status]")).toHaveText("Succeeded");
});

test("a member cannot open the page of jobs that need attention", { tag: "@long" }, async ({ page }) => {
  await enter(page.context(), world.member);
  await open(page, "/");
  const answer = await page.goto("/attention");
  expect(answer?.status()).toBe(404);
});
