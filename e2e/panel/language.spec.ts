import { file, needOf } from "../needs";
import { ended, submit, textInput, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, jobPath, open, test } from "./panel";

const HEBREW = "שלום עולם, 42 (test)";

test("an input in Hebrew runs from right to left, on the job's page and in the playground", {
  tag: "@long",
}, async ({ page }) => {
  const job = await ended((await submit({ input: textInput(HEBREW) })).jobId);
  await open(page, jobPath(job.jobId));
  const words = page.getByRole("main").getByText(HEBREW).first();
  await expect(words).toBeVisible();
  expect(await words.evaluate((node) => getComputedStyle(node).direction)).toBe("rtl");

  await open(page, `/projects/${world.projectId}/catalog/text.general.fast.v1`);
  const prompt = page.getByLabel("Content").first();
  await prompt.fill(HEBREW);
  expect(await prompt.evaluate((node) => getComputedStyle(node).direction)).toBe("rtl");
  await prompt.fill("Hello");
  expect(await prompt.evaluate((node) => getComputedStyle(node).direction)).toBe("ltr");
});

test("a summary in Hebrew runs from right to left, in a list and as a heading", async ({ page }) => {
  const { id } = await file(needOf(world.projectId, { summary: HEBREW }));
  await open(page, `/projects/${world.projectId}/requests`);
  const name = page.getByRole("link", { name: HEBREW }).first();
  expect(await name.evaluate((node) => getComputedStyle(node).direction)).toBe("rtl");
  await open(page, `/projects/${world.projectId}/requests/${id}`);
  const heading = page.getByRole("heading", { name: HEBREW, level: 1 });
  expect(await heading.evaluate((node) => getComputedStyle(node).direction)).toBe("rtl");
});

test.describe("a reader without a stored session", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test.describe("without JavaScript", () => {
    test.use({ javaScriptEnabled: false });

    test("the sign-in page says that signing in needs JavaScript", async ({ page }) => {
      await page.goto("/sign-in");
      // Text in <noscript> cannot be found by its content.
      const notice = page.locator("noscript > div");
      await expect(notice).toBeVisible();
      expect(await notice.textContent()).toContain("Signing in needs JavaScript.");
      await expect(page.getByLabel("Email")).toBeHidden();
    });
  });

  test("on a narrow phone every tab of an organization is in view and can be reached", {
    tag: "@long",
  }, async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await enter(page.context(), world.operator);
    await open(page, `/projects/${world.projectId}/organization`);
    const tabs = page.getByRole("tablist").getByRole("tab");
    await expect(tabs).toHaveCount(5);
    for (const tab of await tabs.all()) await expect(tab).toBeInViewport({ ratio: 1 });
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  });
});
