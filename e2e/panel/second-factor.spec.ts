import { test } from "@playwright/test";
import { makePerson, world } from "../world";
import { codeOf, look, PHONE, secretOf } from "./authenticator";
import { expect, open, signIn } from "./panel";

test("a person turns a second factor on, signs in with codes, and turns it off", { tag: "@full" }, async ({
  browser,
}) => {
  const person = makePerson("member");
  const context = await browser.newContext({ baseURL: world.baseUrl });
  const page = await context.newPage();
  await open(page, "/sign-in?callbackUrl=/account");
  await signIn(page, person);
  await page.waitForURL("**/account");
  const card = page.getByRole("region", { name: "Second factor" });
  const code = page.getByLabel("Code");

  await card.getByLabel("Your password").fill("not the password");
  await card.getByRole("button", { name: "Set up" }).click();
  await expect(card.getByLabel("Your password")).toHaveAccessibleDescription("The password is not correct.");
  const secret = await secretOf(page, person.password);
  await look(page, "second-factor-setup");
  await code.fill("000000");
  await card.getByRole("button", { name: "Turn on" }).click();
  await expect(code).toHaveAccessibleDescription(/is wrong/);
  await expect(code).toBeFocused();
  await code.fill(codeOf(secret, -1));
  await card.getByRole("button", { name: "Turn on" }).click();
  const recovery = card.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(recovery).toHaveCount(10);
  const recoveryCode = (await recovery.first().textContent()) ?? "";
  await look(page, "second-factor-codes");
  const saving = page.waitForEvent("download");
  await card.getByRole("button", { name: "Download recovery codes" }).click();
  expect((await saving).suggestedFilename()).toBe("capstan-recovery-codes.txt");
  await card.getByRole("button", { name: "Done" }).click();
  await expect(recovery).toHaveCount(0);

  // The password alone gives access to neither pages nor the API.
  const other = await (await browser.newContext({ baseURL: world.baseUrl, viewport: PHONE })).newPage();
  await open(other, "/sign-in?callbackUrl=/account");
  await signIn(other, person);
  await expect(other.getByRole("heading", { name: "Enter a code" })).toBeVisible();
  const cookie = (await other.context().cookies()).find(({ name }) => name.endsWith("capstan.session"));
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect((await other.request.get("/v1/auth/sessions")).status()).toBe(401);
  await other.goto("/account");
  await expect(other.getByRole("heading", { name: "Enter a code" })).toBeVisible();
  await look(other, "second-factor-sign-in");
  await open(other, "/sign-in?callbackUrl=/account");
  await other.getByLabel("Code").fill("000000");
  await other.getByRole("button", { name: "Sign in" }).click();
  await expect(other.getByRole("alert").filter({ hasText: "code" })).toHaveText(
    "This code is wrong or was already used. Enter the current code.",
  );
  const right = codeOf(secret);
  await other.getByLabel("Code").fill(right);
  await other.getByRole("button", { name: "Sign in" }).click();
  await expect(other.getByRole("heading", { level: 1, name: "Account" })).toBeVisible();
  expect((await other.request.get("/v1/auth/sessions")).status()).toBe(200);

  // The same code does not work again; a recovery code works once.
  const third = await (await browser.newContext({ baseURL: world.baseUrl })).newPage();
  await open(third, "/sign-in?callbackUrl=/account");
  await signIn(third, person);
  for (const [typed, answer] of [
    [right, "This code is wrong or was already used. Enter the current code."],
    [recoveryCode, null],
  ] as const) {
    await third.getByLabel("Code").fill(typed);
    await third.getByRole("button", { name: "Sign in" }).click();
    if (answer) await expect(third.getByRole("alert").filter({ hasText: "code" })).toHaveText(answer);
  }
  await expect(third.getByText("9 recovery codes left.")).toBeVisible();
  await look(third, "second-factor-on");

  await third.getByLabel("Code").fill(codeOf(secret, 1));
  await third.getByRole("button", { name: "Turn off" }).click();
  await expect(third.getByText("Second factor turned off")).toBeVisible();
  await expect(third.getByLabel("Your password")).toBeVisible();
  for (const each of [page, other, third]) await each.context().close();
});
