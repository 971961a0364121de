import type { Page } from "@playwright/test";
import { unique, world } from "../world";
import { catalogPath, expect, jobsPath, open, scriptRuns, test } from "./panel";

/*
 * On a slow connection a reader sees the page, and types into it, seconds before its scripts run.
 */

const TEXT = "text.general.fast.v1";

/** Opens the page as the server sent it. Its scripts run when the returned function is called. */
async function openWithoutScripts(page: Page, path: string): Promise<() => Promise<void>> {
  let allow = () => {};
  const allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  await page.route("**/_next/static/**/*.js*", async (route) => {
    await allowed;
    await route.continue();
  });
  await page.goto(path, { waitUntil: "commit" });
  await expect(page.getByRole("main")).toBeVisible();
  return async () => {
    allow();
    await scriptRuns(page);
  };
}

test("text typed into the playground before its scripts run stays and is what runs", async ({ page }) => {
  const runScripts = await openWithoutScripts(page, catalogPath(TEXT));
  const words = unique("early");
  const content = page.getByLabel("Content").first();
  await content.fill(words);
  await runScripts();
  const [sent] = await Promise.all([
    page.waitForRequest(/catalog\.(invoke|submit)/),
    page.getByRole("button", { name: "Run", exact: true }).click(),
  ]);
  expect(sent.postData()).toContain(words);
  await expect(content).toHaveValue(words);
  await expect(page.getByRole("region", { name: "Code", exact: true })).toContainText(words);
});

test("the caret in early text keeps its position", { tag: "@long" }, async ({ page }) => {
  const runScripts = await openWithoutScripts(page, catalogPath(TEXT));
  const content = page.getByLabel("Content").first();
  await content.fill("One three");
  await content.evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(4, 4));
  await runScripts();
  await expect(page.getByRole("region", { name: "Code", exact: true })).toContainText("One three");
  await content.pressSequentially("two ");
  await expect(content).toHaveValue("One two three");
});

const project = `/projects/${world.projectId}`;
const FORMS = [
  { path: `${project}/requests/new`, field: "Need", text: "Count the trees." },
  { path: `${project}/pinned/new`, field: "Input", text: "Say hello." },
  { path: `${project}/comparisons/new?capability=${TEXT}`, field: "Content", text: "Which is better?" },
];

for (const [place, { path, field, text }] of FORMS.entries())
  test(`early text in ${field} of ${path.slice(project.length)} stays and is known to the form`, {
    tag: place > 0 ? "@long" : [],
  }, async ({ page }) => {
    const runScripts = await openWithoutScripts(page, path);
    const input = page.getByLabel(field).first();
    await input.fill(text);
    await runScripts();
    await expect(input).toHaveValue(text);
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await expect(page.getByRole("alertdialog", { name: "Leave without saving?" })).toBeVisible();
  });

test("text typed early into the catalog search is searched for", { tag: "@long" }, async ({ page }) => {
  const runScripts = await openWithoutScripts(page, catalogPath());
  await page.getByLabel("Search capabilities").fill("exact decimals");
  await runScripts();
  await expect(page).toHaveURL(/q=exact\+decimals/);
  await expect(page.getByRole("main").getByRole("listitem").first()).toContainText("compute.evaluate.v1");
});

test("a form sent before its scripts run keeps its text", { tag: "@long" }, async ({ page }) => {
  const runScripts = await openWithoutScripts(page, catalogPath(TEXT));
  const content = page.getByLabel("Content").first();
  await content.fill("Sent early");
  await page
    .locator("main form")
    .first()
    .evaluate((form: HTMLFormElement) => form.requestSubmit());
  await runScripts();
  await expect(page).toHaveURL(new RegExp(`${catalogPath(TEXT)}$`));
  await expect(content).toHaveValue("Sent early");
});

test("selects show their value before the scripts run", { tag: "@long" }, async ({ page }) => {
  await openWithoutScripts(page, catalogPath(TEXT));
  await expect(page.getByLabel("Run mode", { exact: true })).toHaveText("Wait for result");
  await expect(page.getByLabel("Model", { exact: true })).toHaveText("Automatic");
  await openWithoutScripts(page, jobsPath({ status: "failed" }));
  await expect(page.getByLabel("Status", { exact: true })).toHaveText("Failed");
});

test("the layout does not shift when the price arrives", { tag: "@long" }, async ({ page }) => {
  let answer = () => {};
  const allowed = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/catalog\.quote/, async (route) => {
    await allowed;
    await route.continue();
  });
  await open(page, catalogPath(TEXT));
  const cost = page.locator("[data-price]");
  await expect(cost).toHaveAttribute("aria-busy", "true");
  const code = page.getByRole("region", { name: "Code", exact: true });
  const before = await code.boundingBox();
  answer();
  await expect(cost).toContainText(/\$/);
  expect((await code.boundingBox())?.y).toBe(before?.y);
});

/** Collects every layout shift without user input in the half second before it. */
async function watchShifts(page: Page) {
  await page.addInitScript(() => {
    const shifts: { value: number; what: string[] }[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as LayoutShift[])
        if (!entry.hadRecentInput)
          shifts.push({
            value: entry.value,
            what: entry.sources.map(({ node }) =>
              node instanceof Element ? node.outerHTML.slice(0, 120) : "",
            ),
          });
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () =>
    page.evaluate(() => (window as unknown as { shifts: { value: number; what: string[] }[] }).shifts);
}
type LayoutShift = { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] };

for (const [width, tag] of [
  [1440, "@long"],
  [390, undefined],
] as const)
  test(`the playground has no layout shift while it loads, takes text and changes its view: ${width} pixels`, {
    tag,
  }, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    const shifts = await watchShifts(page);
    // The fallback font has the same metrics where Arial or Liberation Sans is installed; a bare Debian has neither, so
    // text shifts.
    await page.route("**/*.woff2", (route) => route.abort());
    const runScripts = await openWithoutScripts(page, catalogPath(TEXT));
    const content = page.getByLabel("Content").first();
    await expect(content).toBeVisible();
    await runScripts();
    const priced = () => expect(page.locator("[data-price][aria-busy=false]")).toContainText(/\$/);
    await priced();
    const quoted = page.waitForResponse(/catalog\.quote/);
    await content.pressSequentially("Some more words. ".repeat(12));
    await quoted;
    await priced();
    await page.getByRole("tab", { name: "JSON" }).click();
    await expect(page.getByLabel("Input as JSON")).toBeVisible();
    await page.getByRole("tab", { name: "Form" }).click();
    await expect(content).toBeVisible();
    await page.getByRole("tab", { name: "Python" }).click();
    await expect(page.getByRole("region", { name: "Code", exact: true })).toContainText("import");
    const found = await shifts();
    const sum = found.reduce((total, { value }) => total + value, 0);
    expect(sum, JSON.stringify(found, null, 1)).toBeLessThan(0.1);
  });
