import { unique, world } from "../world";
import { expect, keysPath, open, test } from "./panel";

/* A browser may keep a page in memory and show it again on "Back" without a request to the server. */

const shownFromMemory = () => {
  window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
};

for (const [place, path] of [keysPath, "/account", "/billing", "/notifications"].entries())
  test(`a page restored from the browser's cache leads to sign-in when the session has ended: ${path.replace(world.projectId, "{id}")}`, {
    tag: place > 0 ? "@long" : [],
  }, async ({ page, context }) => {
    await open(page, path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await context.clearCookies();
    await page.evaluate(shownFromMemory);
    await page.waitForURL("**/sign-in?*");
    await expect(page.getByLabel("Email")).toBeVisible();
  });

test("a page restored from the browser's cache is loaded again while the session is valid", async ({
  page,
}) => {
  await open(page, keysPath);
  await page.evaluate(() => {
    document.title = "Kept";
  });
  await page.evaluate(shownFromMemory);
  await expect(page).not.toHaveTitle("Kept");
  await expect(page.getByRole("heading", { name: "API keys", level: 1 })).toBeVisible();
});

test("typed text stays on a page restored from the browser's cache, and the reader signs in in another tab", {
  tag: "@long",
}, async ({ page, context }) => {
  await open(page, `/projects/${world.projectId}/requests/new`);
  const need = unique("Count the trees");
  await page.getByLabel("Need").fill(need);
  await context.clearCookies();
  await page.evaluate(shownFromMemory);
  await expect(page.getByRole("alertdialog", { name: "You are signed out" })).toBeVisible();
  await expect(page.getByLabel("Need")).toHaveValue(need);
});
