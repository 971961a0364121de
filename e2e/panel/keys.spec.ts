import { call, unique } from "../world";
import { expect, keysPath, open, test } from "./panel";

test("a key is created, shown once, works, and is refused once revoked", async ({ page }) => {
  const name = unique("Key");
  await open(page, keysPath);
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog", { name: "Create API key" });
  await form.getByLabel("Name").fill(name);
  await expect(form.getByRole("radio", { name: "For an agent" })).toBeChecked();
  await form.getByRole("radio", { name: "Choose scopes" }).check();
  await expect(form.getByRole("checkbox", { name: "jobs:read" })).toBeChecked();
  await expect(form.getByRole("checkbox", { name: "approvals:write" })).not.toBeChecked();
  await form.getByRole("checkbox", { name: "billing:read" }).click();
  await form
    .getByRole("button", { name: "Create key" })
    .evaluate((button: HTMLElement) => [button.click(), button.click()]);

  const shown = page.getByRole("dialog", { name: "Copy your key now" });
  const key = await shown.getByTestId("new-key").textContent();
  if (!key) throw new Error("The dialog shows no key.");
  expect(key).toMatch(/^cap_development_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  await page.keyboard.press("Escape");
  await shown.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  expect((await call("/v1/jobs", { key })).status).toBe(200);

  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText(key.slice(0, "cap_development_".length + 6));
  await expect(row).toContainText("9 scopes");
  await row.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke key" }).click();
  await expect(row).toHaveCount(0);
  expect((await call("/v1/jobs", { key })).status).toBe(401);

  await page.getByRole("checkbox", { name: /revoked key/ }).click();
  await expect(row).toContainText("Revoked");
});

test("a key without a scope cannot be created", async ({ page }) => {
  await open(page, keysPath);
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog");
  await form.getByRole("radio", { name: "Choose scopes" }).check();
  for (const box of await form.getByRole("checkbox").all()) if (await box.isChecked()) await box.click();
  await expect(form.getByRole("button", { name: "Create key" })).toBeDisabled();
});
