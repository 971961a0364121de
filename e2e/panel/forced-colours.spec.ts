import type { Locator } from "@playwright/test";
import { admin, call, textInput, world } from "../world";
import { catalogPath, enter, expect, jobsPath, open, test } from "./panel";

test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
});

/** True if an element looks different once its state attribute is removed or set to `other`. */
async function isSeen(element: Locator, attribute: string, other: string | null): Promise<boolean> {
  const marked = await element.screenshot();
  await element.evaluate(
    (node, [name, value]) => (value === null ? node.removeAttribute(name) : node.setAttribute(name, value)),
    [attribute, other] as const,
  );
  return !marked.equals(await element.screenshot());
}

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`on a ${colorScheme} page`, { tag: colorScheme === "dark" ? "@long" : [] }, () => {
    test.use({ colorScheme });

    test("the selected tab, the current page and the chosen view look selected", async ({ page }) => {
      await open(page, catalogPath("text.general.fast.v1"));
      const tab = page.getByRole("tab", { selected: true }).first();
      expect(await isSeen(tab, "aria-selected", "false")).toBe(true);
      await open(page, jobsPath());
      const entry = page.getByRole("navigation", { name: "Panel" }).getByRole("link", { name: "Jobs" });
      expect(await isSeen(entry, "aria-current", null)).toBe(true);
      await open(page, `/projects/${world.projectId}/usage`);
      const view = page.getByRole("navigation", { name: "Days" }).getByRole("link", { name: "30 days" });
      expect(await isSeen(view, "aria-current", null)).toBe(true);
    });

    test("a primary button has a solid border", async ({ page }) => {
      await open(page, `/projects/${world.projectId}/keys`);
      const button = page
        .getByRole("main")
        .getByRole("button", { name: /create/i })
        .first();
      expect(await button.evaluate((node) => getComputedStyle(node).borderTopWidth)).not.toBe("0px");
      expect(await button.evaluate((node) => getComputedStyle(node).borderTopStyle)).toBe("solid");
    });
  });
}

test.describe("an owner", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("the bar of a budget shows the spent amount", async ({ page }) => {
    const { projectId } = admin(
      "project",
      "create",
      "--name",
      "Bars",
      "--organization",
      world.organizationId,
    );
    const job = await call("/v1/capabilities/text.general.fast.v1/invoke", {
      key: world.unboundApiKey,
      body: { context: { projectId }, input: textInput("Spend a little") },
    });
    expect(job.status).toBe(200);
    await enter(page.context(), world.operator);
    await open(page, `/projects/${projectId}/budgets`);
    await page.getByRole("button", { name: "Set budget" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Limit in US dollars").fill("0.000001");
    await dialog.getByRole("button", { name: "Set budget" }).click();
    const bar = page.getByRole("img", { name: /spent and .* reserved of/ });
    await expect(bar).not.toHaveAccessibleName(/\$0\.00 spent/);
    const filled = await bar.screenshot();
    await bar.evaluate((node) => node.replaceChildren());
    expect(filled.equals(await bar.screenshot())).toBe(false);
  });
});
