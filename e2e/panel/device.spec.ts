import { world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };

test("a device is approved by its code, never by a link alone, and is listed and ended like any session", {
  tag: "@full",
}, async ({ page, playwright }) => {
  // A device does not have the cookies of the person's browser.
  const request = await playwright.request.newContext({
    baseURL: world.baseUrl,
    storageState: { cookies: [], origins: [] },
  });
  const start = async (clientName: string) =>
    (await request.post("/v1/auth/device/start", { data: { clientName } })).json();
  const redeem = (deviceCode: string) => request.post("/v1/auth/device/token", { data: { deviceCode } });
  const { userCode, deviceCode, verificationUriComplete } = await start("capstan on a laptop");
  expect((await redeem(deviceCode)).status()).toBe(428);

  await page.setViewportSize(PHONE);
  const { pathname, search } = new URL(verificationUriComplete);
  await open(page, pathname + search);
  await expect(page.getByLabel("Code")).toHaveValue(userCode);
  expect((await redeem(deviceCode)).status()).toBe(428); // opened, but not decided
  await expectAccessible(page);

  await page.getByLabel("Code").fill("BBBB-BBBB");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(
    page.getByRole("alert").filter({
      hasText: "No device is waiting with this code. Check the code, or start again on the device.",
    }),
  ).toBeVisible();
  await page.getByLabel("Code").fill(userCode.toLowerCase().replace("-", " "));
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("capstan on a laptop")).toBeVisible();
  await expect(page.getByText(`It will be signed in as ${world.member.email}.`)).toBeVisible();
  expect((await redeem(deviceCode)).status()).toBe(428);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await keepLooks(page, "device");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("heading", { name: "Device signed in" })).toBeVisible();

  const redeemed = await redeem(deviceCode);
  expect(redeemed.status()).toBe(200);
  const { sessionToken, sessionId } = await redeemed.json();
  expect((await redeem(deviceCode)).status()).toBe(410);
  const headers = { authorization: `Bearer ${sessionToken}` };
  const { items } = await (await request.get("/v1/auth/sessions", { headers })).json();
  expect(items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toMatchObject({
    sessionId,
    kind: "device",
  });
  expect((await request.delete(`/v1/auth/sessions/${sessionId}`, { headers })).status()).toBe(200);
  expect((await request.get("/v1/auth/sessions", { headers })).status()).toBe(401);

  const other = await start("a stranger");
  await open(page, "/device");
  await page.getByLabel("Code").fill(other.userCode);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await expect(page.getByRole("heading", { name: "Sign-in denied" })).toBeVisible();
  expect((await redeem(other.deviceCode)).status()).toBe(410);
  await request.dispose();
});
