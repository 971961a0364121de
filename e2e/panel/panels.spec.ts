import { call, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const panelsPath = `/projects/${world.projectId}/panels`;

test("an embed is created, shown in a page and edited; its sessions are listed with usage, found and revoked", {
  tag: "@full",
}, async ({ page }) => {
  const key = `room-${Date.now().toString(36)}`;
  await open(page, panelsPath);
  await page.getByRole("button", { name: "Create embed" }).first().click();
  const form = page.getByRole("dialog", { name: "Create embed" });
  await form.getByLabel("Name", { exact: true }).fill(`Studio ${key}`);
  await form.getByLabel("Key", { exact: true }).fill(key);
  await form.getByLabel("Allowed origins").fill("https://app.example/path");
  await form.getByRole("button", { name: "Create embed" }).click();
  await expect(form.getByLabel("Allowed origins")).toHaveAccessibleDescription(/an exact https origin/);
  await expect(form.getByLabel("Allowed origins")).toBeFocused();
  await expect(form.getByRole("alert")).not.toContainText("allowedOrigins");
  await form.getByLabel("Allowed origins").fill("https://app.example");
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create embed" }).click();
  const row = page.locator(`[data-panel="${key}"]`);
  await expect(row).toContainText("Version 1");

  await row.getByRole("button", { name: /^Embed / }).click();
  const snippet = page.getByRole("dialog", { name: `Embed “Studio ${key}”` });
  await expect(snippet.getByRole("region", { name: "Page code" })).toContainText(
    `${world.baseUrl}/capstan-panel.js`,
  );
  await expect(snippet.getByRole("region", { name: "Server code" })).toContainText("https://app.example");
  await page.keyboard.press("Escape");

  await row.getByRole("button", { name: /^Edit / }).click();
  const edit = page.getByRole("dialog", { name: /^Edit / });
  await edit.getByLabel("Maximum outputs").fill("2");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Version 2");

  const session = {
    projectId: world.projectId,
    panelDefinitionKey: key,
    allowedOrigins: ["https://app.example"],
    maxSpendMicros: 2_000_000,
    externalSubject: `visitor of ${key}`,
  };
  const { sessionId } = await (await call("/v1/panel-sessions", { body: session })).json();
  await page.setViewportSize(PHONE);
  await open(page, `${panelsPath}?subject=${encodeURIComponent(session.externalSubject)}`);
  const line = page.getByRole("row").filter({ hasText: session.externalSubject });
  await expect(line).toContainText("$0.00 of $2.00");
  await expect(line).toContainText("0 of 10");
  await expect(page.locator("[data-session]:visible")).toHaveCount(1);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await line.getByRole("button", { name: /^Revoke / }).click();
  await page.getByRole("button", { name: "Revoke session" }).click();
  await expect(line).toContainText("Revoked");
  expect((await (await call(`/v1/panel-sessions/${sessionId}`)).json()).status).toBe("revoked");

  await page.setViewportSize({ width: 1280, height: 900 });
  await call("/v1/panel-sessions", { body: session });
  await open(page, `${panelsPath}?subject=${encodeURIComponent(session.externalSubject)}`);
  await expect(page.getByRole("row")).toHaveCount(3);
  const revoke = page.getByRole("row").getByRole("button", { name: /^Revoke / });
  await expect(revoke).toBeInViewport({ ratio: 1 });
  await row.getByRole("button", { name: /^Archive / }).click();
  await page.getByRole("button", { name: "Archive embed" }).click();
  await expect(row).toHaveCount(0);
});
