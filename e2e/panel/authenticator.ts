import type { Page } from "@playwright/test";
import { TOTP } from "otpauth";
import { expect, expectAccessible, expectNoSidewaysScroll, keepLooks } from "./panel";

export const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 800 };

/** The code this many steps after the current one. No code works twice, and the next step's code already works. */
export const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Saves the page's looks at both widths, and checks that it is accessible and does not scroll sideways on a phone. */
export async function look(page: Page, name: string): Promise<void> {
  for (const size of [WIDE, PHONE]) {
    await page.setViewportSize(size);
    await keepLooks(page, name);
  }
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(WIDE);
}

/** Enters the password and reads the secret that an authenticator would scan. */
export async function secretOf(page: Page, password: string): Promise<string> {
  const card = page.getByRole("region", { name: "Second factor" });
  await card.getByLabel("Your password").fill(password);
  await card.getByRole("button", { name: "Set up" }).click();
  const qrCode = card.getByRole("img", { name: "QR code for the key below" });
  await expect.poll(() => qrCode.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(20);
  return ((await card.getByTestId("second-factor-secret").textContent()) ?? "").replaceAll(" ", "");
}

/** Turns on the second factor of the signed-in person. */
export async function setUp(page: Page, password: string): Promise<void> {
  const card = page.getByRole("region", { name: "Second factor" });
  const secret = await secretOf(page, password);
  await card.getByLabel("Code").fill(codeOf(secret));
  await card.getByRole("button", { name: "Turn on" }).click();
  await expect(card.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
}
