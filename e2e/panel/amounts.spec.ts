import type { Locator } from "@playwright/test";
import { admin, world } from "../world";
import { enter, expect, expectAccessible, open, test } from "./panel";

const EXAMPLE = "Use digits and one point, like 1250.50.";

test.use({ storageState: { cookies: [], origins: [] } });

let projectId = "";
test.beforeEach(async ({ page }) => {
  ({ projectId } = admin("project", "create", "--name", "Amounts", "--organization", world.organizationId));
  await enter(page.context(), world.operator);
  await open(page, "/");
});

/** Replaces the text of a field, key by key, as a person who clicks into the field does. */
async function type(field: Locator, text: string): Promise<void> {
  await field.blur();
  await field.click();
  await field.page().keyboard.type(text);
}

async function expectRefused(field: Locator, text: string): Promise<void> {
  await type(field, text);
  await field.press("Enter");
  await expect(field).toHaveValue(text);
  await expect(field).toHaveAccessibleDescription(new RegExp(EXAMPLE.replaceAll(".", "\\.")));
  await expect(field).toBeFocused();
}

test("an amount with a comma or a second point is refused with an example, and nothing is saved", {
  tag: "@long",
}, async ({ page }) => {
  await open(page, `/projects/${projectId}/budgets`);
  await page.getByRole("button", { name: "Set budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Set budget" });
  const ceiling = dialog.getByLabel("Limit in US dollars");
  await expect(ceiling).toHaveValue("10");
  for (const text of ["1.234,50", "1.234.50", "12,5"]) await expectRefused(ceiling, text);
  await expectAccessible(page);
  await type(ceiling, "1234.50");
  await ceiling.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("region", { name: "This project" })).toContainText("of $1,234.50");

  await page.getByRole("button", { name: /^Temporary increase/ }).click();
  const raise = page.getByRole("dialog");
  await raise.getByLabel("Reason").fill("A launch");
  const increase = raise.getByLabel("Increase in US dollars");
  await expect(increase).toHaveValue("5");
  await expectRefused(increase, "1.000,5");
  await type(increase, "2.5");
  await increase.press("Enter");
  await expect(page.getByRole("region", { name: "This project" })).toContainText("Increased by $2.50");
});

test("five further fields for an amount of money follow the same rule", { tag: "@long" }, async ({
  page,
}) => {
  const fields: [path: string, label: string, show?: string][] = [
    [`/projects/${projectId}/budgets`, "Daily limit in US dollars"],
    [`/projects/${projectId}/budgets`, "Limit per execution in US dollars"],
    [`/projects/${projectId}/settings`, "Threshold in US dollars"],
    [`/projects/${projectId}/panels`, "Maximum price per job", "Create embed"],
    ["/billing", "Amount in US dollars"],
  ];
  for (const [path, label, show] of fields) {
    await open(page, path);
    if (show) await page.getByRole("button", { name: show }).first().click();
    const checkbox = page.getByLabel("Require approval for expensive jobs");
    if (path.endsWith("/settings")) await checkbox.check();
    const field = page.getByLabel(label);
    await expect(field).toHaveAttribute("inputmode", "decimal");
    await type(field, "1,5");
    await expect(field).toHaveValue("1,5");
    await field.blur();
    await expect(field).toHaveAccessibleDescription(new RegExp(EXAMPLE.replaceAll(".", "\\.")));
  }
});
