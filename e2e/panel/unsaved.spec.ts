import { makePerson, unique, world } from "../world";
import {
  catalogPath,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  keepLooks,
  open,
  signIn,
  test,
} from "./panel";

const NEED = "Say which trees stand in a picture, and how old they are.";

test("leaving or reloading a page with unsaved input asks first", { tag: "@full" }, async ({ page }) => {
  const form = `/projects/${world.projectId}/requests/new`;
  await open(page, form);
  // Without input, leaving asks no question.
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/requests"));
  await open(page, form);
  await page.getByLabel("Need").fill(NEED);

  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  const asked = page.getByRole("alertdialog", { name: "Leave without saving?" });
  await expect(asked).toBeVisible();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await keepLooks(page, "unsaved");
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await asked.getByRole("button", { name: "Cancel" }).click();
  await expect(page).toHaveURL(new RegExp(`${form}$`));
  await expect(page.getByLabel("Need")).toHaveValue(NEED);

  const [warned] = await Promise.all([
    page.waitForEvent("dialog"),
    page.evaluate(() => void setTimeout(() => window.location.reload())),
  ]);
  expect(warned.type()).toBe("beforeunload");
  await warned.dismiss();
  await expect(page.getByLabel("Need")).toHaveValue(NEED);

  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await asked.getByRole("button", { name: "Leave" }).click();
  await page.waitForURL("**/jobs");
  await page.reload(); // the page no longer asks
  await expect(page.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
});

test("when a session ends, typed text stays: the reader signs in in another tab, comes back and submits it", {
  tag: "@long",
}, async ({ browser }) => {
  const person = makePerson("member");
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await open(page, "/sign-in");
  await signIn(page, person);
  await page.waitForURL("**/jobs");
  await open(page, `/projects/${world.projectId}/requests/new`);
  const summary = unique("Count trees");
  await page.getByLabel("Summary").fill(summary);
  await page.getByLabel("Need").fill(NEED);
  await context.clearCookies();
  await page.getByRole("button", { name: "Save draft" }).click();
  const told = page.getByRole("alertdialog", { name: "You are signed out" });
  await expect(told).toBeVisible();
  await expectAccessible(page);
  await keepLooks(page, "unsaved-signed-out");
  const [beside] = await Promise.all([
    context.waitForEvent("page"),
    told.getByRole("button", { name: "Sign in" }).click(),
  ]);
  await beside.waitForLoadState();
  await open(beside, new URL(beside.url()).pathname + new URL(beside.url()).search);
  await signIn(beside, person);
  await expect(beside.getByRole("heading", { name: "You're signed in" })).toBeVisible();
  await expectAccessible(beside);
  await keepLooks(beside, "signed-in");
  await beside.close();

  await page.bringToFront();
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(page.getByText("You're signed in again.")).toBeVisible();
  await expect(page.getByLabel("Need")).toHaveValue(NEED);
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.waitForURL("**/requests/cr_*");
  await expect(page.getByRole("heading", { level: 1 })).toContainText(summary);
  await context.close();
});

test("leaving unsaved input in the playground, an adapter form or a comparison asks first, and Compare carries it along", {
  tag: "@long",
}, async ({ page }) => {
  const asked = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const leaveBy = async (name: string) => {
    await page.getByRole("link", { name, exact: true }).click();
    await expect(asked).toBeVisible();
  };
  await open(page, `${catalogPath("text.general.fast.v1")}`);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.waitForURL("**/jobs");

  await open(page, `${catalogPath("text.general.fast.v1")}`);
  await page.getByLabel("Content").first().fill("How many trees?");
  await leaveBy("Jobs");
  await asked.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.waitForURL("**/comparisons/new?*");
  await expect(page.getByLabel("Content").first()).toHaveValue("How many trees?");
  await leaveBy("Jobs");
  await asked.getByRole("button", { name: "Leave" }).click();
  await page.waitForURL("**/jobs");

  await open(page, `/projects/${world.projectId}/adapters/new`);
  await page.getByRole("tab", { name: "Other source" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Moss");
  await page.getByRole("tab", { name: "Paste a link" }).click();
  await page.getByRole("tab", { name: "Other source" }).click();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue("Moss");
  await leaveBy("Jobs");
});

test("text typed into a dialog survives Escape and a click outside, and is discarded only after a question", {
  tag: "@long",
}, async ({ page }) => {
  for (const [path, opener, field] of [
    ["keys", "Create key", "Name"],
    ["webhooks", "Add endpoint", "URL"],
    ["panels", "Create embed", "Name"],
    ["provenance", "Create manifest", "Label"],
  ] as const) {
    await open(page, `/projects/${world.projectId}/${path}`);
    await page.getByRole("button", { name: opener }).first().click();
    const form = page.getByRole("dialog");
    // The form's code is loaded on demand, and Escape reaches it only once it has the focus.
    await expect(form.getByLabel(field, { exact: true })).toBeFocused();
    // An empty form asks no question.
    await page.keyboard.press("Escape");
    await expect(form).toBeHidden();
    await page.getByRole("button", { name: opener }).first().click();
    await form.getByLabel(field, { exact: true }).fill("https://typed.example");
    const asked = page.getByRole("alertdialog", { name: "Discard what you typed?" });
    for (const leave of [() => page.keyboard.press("Escape"), () => page.mouse.click(5, 5)]) {
      await leave();
      await asked.getByRole("button", { name: "Cancel" }).click();
      await expect(asked).toBeHidden();
      await expect(form.getByLabel(field, { exact: true })).toHaveValue("https://typed.example");
    }
    await page.keyboard.press("Escape");
    await asked.getByRole("button", { name: "Discard" }).click();
    await expect(form).toBeHidden();
    await expect(page.getByRole("button", { name: opener }).first()).toBeFocused();
  }
});
