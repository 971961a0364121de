import type { Page } from "@playwright/test";
import { TOTP } from "otpauth";
import { expect, expectAccessible, expectNoSidewaysScroll } from "./panel";

export const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 800 };

/** The code of the step so many after the present one: none counts twice, and one of the next step counts already. */
export const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Is the page usable on a phone, in the dark? With SHOTS, pictures of it in each size and colour go there. */
export async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS;
  for (const [size, colorScheme] of [
    ...(folder
      ? ([
          [WIDE, "light"],
          [WIDE, "dark"],
          [PHONE, "light"],
        ] as const)
      : []),
    [PHONE, "dark"],
  ] as const) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    const path = `${folder}/${name}-${size.width}-${colorScheme}.png`;
    if (folder) await page.screenshot({ path, fullPage: true });
  }
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(WIDE);
}

/** Types the password and reads the secret an authenticator would scan. */
export async function secretOf(page: Page, password: string): Promise<string> {
  const card = page.getByRole("region", { name: "Second factor" });
  await card.getByLabel("Your password").fill(password);
  await card.getByRole("button", { name: "Set up" }).click();
  const qrCode = card.getByRole("img", { name: "QR code for the key below" });
  await expect.poll(() => qrCode.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(20);
  return ((await card.getByTestId("second-factor-secret").textContent()) ?? "").replaceAll(" ", "");
}

/** Turns the second factor of who is signed in on. */
export async function setUp(page: Page, password: string): Promise<void> {
  const card = page.getByRole("region", { name: "Second factor" });
  const secret = await secretOf(page, password);
  await card.getByLabel("Code").fill(codeOf(secret));
  await card.getByRole("button", { name: "Turn on" }).click();
  await expect(card.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
}
