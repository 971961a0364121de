import { test as signedOut } from "@playwright/test";
import { ended, submit, textInput, unique } from "../world";
import {
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  jobPath,
  jobsPath,
  keysPath,
  open,
  test,
} from "./panel";

const PHONE = { width: 390, height: 844 };

signedOut("sign-in is accessible and fits a phone", { tag: "@full" }, async ({ page }) => {
  await open(page, "/sign-in?error=CredentialsSignin");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectNoSidewaysScroll(page);
});

signedOut(
  "the pages of the documentation are accessible in both themes and fit a phone, and a search finds one",
  { tag: "@long" },
  async ({ page }) => {
    for (const path of ["/docs/index", "/docs/reference/errors", "/docs/errors/BudgetExceeded"]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await open(page, path);
        await expectAccessible(page);
      }
      await page.setViewportSize(PHONE);
      await expectNoSidewaysScroll(page);
    }
    await page.getByRole("searchbox", { name: "Search the documentation" }).fill("retry safely");
    await page.keyboard.press("Enter");
    await page.getByRole("main").getByRole("link", { name: "Retry safely" }).first().click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(/Retry safely/i);
  },
);

test("the history is accessible and fits a phone, with and without jobs", { tag: "@full" }, async ({
  page,
}) => {
  const tag = unique("looks");
  await ended((await submit({ input: textInput("Look"), tags: [tag], model: "sandbox-refuse" })).jobId);
  for (const path of [jobsPath(), jobsPath({ tag }), jobsPath({ tag: unique("none") })]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});

test("the job page is accessible and fits a phone, for succeeded, failed and running jobs", {
  tag: "@full",
}, async ({ page }) => {
  const sheet = { rows: 2, columns: 4, slice: true, labels: ["a rather long label of a cell"] };
  const [image, cut, lost] = await Promise.all([
    submit({ capability: "image.generate.v1", input: { prompt: "Looks", variantCount: 2 } }),
    submit({
      capability: "image.generate.v1",
      input: { prompt: "Looks", requestTransparentOutput: true, sheet },
    }),
    submit({ input: textInput("Lost"), model: "sandbox-lost" }),
  ]);
  await Promise.all([ended(image.jobId), ended(cut.jobId), ended(lost.jobId)]);
  const running = await submit({ input: textInput("Run"), model: "sandbox-slow" });
  const paths = [running, image, cut, lost].map(({ jobId }) => jobPath(jobId));
  const parts = ["timeline", "receipt", "request"].map((tab) => `${jobPath(image.jobId)}?tab=${tab}`);
  for (const path of [...paths, ...parts]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectNoSidewaysScroll(page);
  }
});

test("the keys and their dialog are accessible and fit a phone", { tag: "@long" }, async ({ page }) => {
  await open(page, keysPath);
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test("the chosen theme persists", { tag: "@long" }, async ({ page }) => {
  await open(page, jobsPath());
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveClass(/dark/);
  await page.reload();
  await expect(page.locator("html")).toHaveClass(/dark/);
});

test("by keyboard: the first stop skips to the content, and a phone's navigation opens and closes", {
  tag: "@long",
}, async ({ page }) => {
  await open(page, jobsPath());
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();

  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "Open navigation" }).press("Enter");
  const navigation = page.getByRole("dialog", { name: "Navigation" });
  await navigation.getByRole("link", { name: "API keys" }).press("Enter");
  await expect(page).toHaveURL(new RegExp(`${keysPath}$`));
  await expect(navigation).toBeHidden();
});
