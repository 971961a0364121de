import { makePerson, unique } from "../world";
import { catalogPath, enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const TEXT = "text.general.fast.v1";

test("the catalog is searched while typing, and a capability opens from it", async ({ page }) => {
  await open(page, catalogPath());
  await expect(page.getByRole("heading", { name: "Catalog", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name: "Catalog" })).toHaveAttribute("aria-current", "page");
  await page.getByLabel("Search capabilities").fill("draw a pciture");
  await expect(page.getByRole("main").getByRole("listitem").first()).toContainText("image.generate.v1");
  await expect(page).toHaveURL(/q=draw\+a\+pciture/);
  await page.getByLabel("Search capabilities").fill("xyzzyplugh");
  await expect(page.getByRole("heading", { name: "No matching capabilities" })).toBeVisible();
  await page.getByLabel("Search capabilities").fill("exact decimals");
  await page.getByRole("main").getByRole("listitem").first().getByRole("link").click();
  await expect(page).toHaveURL(/catalog\/compute\.evaluate\.v1$/);
});

test("streamed text appears live, and the price is shown before the run", async ({ page }) => {
  await open(page, catalogPath(TEXT));
  await expect(page.locator("[data-price]")).toContainText(/\$/);
  await expect(page.locator("[data-price]")).toContainText(/upper bound|exact count/);
  await page.getByLabel("Run mode", { exact: true }).click();
  await page.getByRole("option", { name: "Stream" }).click();
  // Fast models finish before the text can be observed.
  await page.getByLabel("Model", { exact: true }).click();
  await page.getByRole("option", { name: /slow/i }).click();
  await page
    .getByLabel("Content")
    .first()
    .fill(`Tell a story about ${unique("kites")}`);
  await page.getByRole("button", { name: "Stream", exact: true }).click();
  await expect(page.locator("[data-stream]")).toContainText(/\w{3}/);
  await expect(page.locator("[data-run]")).toHaveAttribute("data-run", "ended", { timeout: 45_000 });
  await expect(page.getByRole("region", { name: "Output", exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Record and receipt" }).click();
  await expect(page).toHaveURL(/\/jobs\/wfr_/);
});

test("a durable job is canceled from the playground", { tag: "@long" }, async ({ page }) => {
  await open(page, catalogPath(TEXT));
  await page.getByLabel("Run mode", { exact: true }).click();
  await page.getByRole("option", { name: "Durable job" }).click();
  await page.getByLabel("Model", { exact: true }).click();
  await page.getByRole("option", { name: /slow/i }).click();
  await page.getByRole("button", { name: "Submit job" }).click();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(page.locator("[data-run] [data-status]")).toHaveAttribute("data-status", "canceled", {
    timeout: 45_000,
  });
});

test("an empty required field shows its error before anything is sent, until it is filled", async ({
  page,
}) => {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (/catalog\.(submit|invoke)/.test(request.url())) sent.push(request.url());
  });
  await open(page, catalogPath("image.generate.v1"));
  const prompt = page.getByLabel("Prompt").first();
  await prompt.fill("");
  await expect(page.locator("[data-price]")).toContainText("No price yet: check Prompt.");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(prompt).toHaveAttribute("aria-invalid", "true");
  await expect(prompt).toBeFocused();
  await expect(page.locator("[data-issue]")).toHaveText("This cannot be empty.");
  await page.getByRole("tab", { name: "JSON" }).click();
  await expect(page.getByRole("tabpanel", { name: "JSON" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Input" })).toContainText("prompt: This cannot be empty.");
  await page.getByRole("tab", { name: "Form" }).click();
  await prompt.fill("A kite");
  await expect(page.locator("[data-issue]")).toHaveCount(0);
  expect(sent).toEqual([]);
});

test("a server error is shown at its field, and disappears when the field is fixed", {
  tag: "@long",
}, async ({ page }) => {
  await open(page, catalogPath("image.generate.v1"));
  const count = page.getByLabel("Variant count");
  if (!(await count.isVisible())) await page.getByText(/^\d+ more fields$/).click();
  await count.fill("99");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(count).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("[data-issue]").first()).toBeVisible();
  await expect(page.locator("[data-run]")).toHaveAttribute("data-run", "ended");
  await count.fill("1");
  await expect(page.locator("[data-issue]")).toHaveCount(0);
});

test("a missing artifact is refused at its index in a list", { tag: "@long" }, async ({ page }) => {
  await open(page, catalogPath("model.generate.3d.v1"));
  const field = page.getByPlaceholder("art_…").first();
  await field.fill("art_00000000000000000000000000");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("[data-issue]")).toHaveText("There is no such artifact in this project.");
});

test("form and JSON are two views of one input, and the code is the exact request", { tag: "@long" }, async ({
  page,
}) => {
  const words = unique("it's");
  await open(page, catalogPath(TEXT));
  await page.getByLabel("Content").first().fill(words);
  await page.getByRole("tab", { name: "JSON" }).click();
  const editor = page.getByLabel("Input as JSON");
  await expect(editor).toHaveValue(new RegExp(words));
  await editor.fill('{"messages":[{"role":"user","content":');
  await expect(page.getByRole("alert").filter({ hasText: "not valid JSON" })).toBeVisible();
  await expect(page.locator("[data-price]")).toHaveText("No price. The JSON is not valid yet.");
  for (const name of ["Run", "Compare"]) await expect(page.getByRole("button", { name })).toBeDisabled();
  await expect(page.getByRole("tab", { name: "Form" })).toBeDisabled();
  await page.getByRole("button", { name: "Discard change" }).click();
  await expect(editor).toHaveValue(new RegExp(words));
  await editor.fill(JSON.stringify({ messages: [{ role: "user", content: `${words} again` }] }));
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByLabel("Content").first()).toHaveValue(`${words} again`);
  const code = page.getByRole("region", { name: "Code", exact: true });
  await expect(code).toContainText(`/v1/capabilities/${TEXT}/invoke`);
  await code.getByRole("tab", { name: "Python" }).click();
  await expect(code).toContainText(`"content": "${words} again"`);
  await expect(code).toContainText('os.environ["CAPSTAN_API_KEY"]');
});

for (const width of [390, 1280])
  test(`catalog and playground are accessible: ${width} pixels`, { tag: "@long" }, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const path of [catalogPath(), catalogPath(TEXT), catalogPath("image.generate.v1")]) {
      await open(page, path);
      if (path !== catalogPath()) await expect(page.locator("[data-price]")).toContainText(/\$|Free/);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
  });

test("a viewer cannot run a capability, and sees the reason", { tag: "@long" }, async ({ browser }) => {
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await enter(page.context(), makePerson("viewer"));
  await open(page, catalogPath(TEXT));
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeDisabled();
  await expect(page.getByText("Your role here is viewer.")).toBeVisible();
  await context.close();
});
