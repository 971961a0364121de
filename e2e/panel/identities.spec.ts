import { test } from "@playwright/test";
import { signedIn } from "../needs";
import { inDatabase, makePerson, unique } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open } from "./panel";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

test("a person disconnects an identity provider with their password, and their other session ends", {
  tag: "@long",
}, async ({ browser }) => {
  const person = makePerson("member");
  for (const issuer of ["https://github.com", "https://accounts.google.com"])
    await inDatabase(
      "INSERT INTO identity (issuer, subject, user_id, created_at) SELECT $1, $2, id, now() FROM user_account WHERE email = $3",
      [issuer, unique("subject"), person.email],
    );
  const [{ page, context }, other] = [await signedIn(browser, person), await signedIn(browser, person)];
  await open(page, "/account");
  const card = page.getByRole("region", { name: "Identity providers" });
  const dialog = page.getByRole("dialog", { name: "Disconnect GitHub?" });
  const ask = card.getByRole("button", { name: "Disconnect GitHub" });
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await keepLooks(page, "identities");
    await ask.click();
    await dialog.getByLabel("Your password").fill("not the password");
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await expect(dialog.getByLabel("Your password")).toHaveAccessibleDescription(
      "The password is not correct.",
    );
    await expect(dialog.getByLabel("Your password")).toBeFocused();
    await expectAccessible(page);
    await keepLooks(page, "identities-asked");
    await dialog.getByRole("button", { name: "Cancel" }).click();
  }
  await ask.click();
  await dialog.getByLabel("Your password").fill(person.password);
  await dialog.getByLabel("Your password").press("Enter");
  await expect(page.getByText("GitHub disconnected. Your other sessions have ended.")).toBeVisible();
  await expect(card.getByRole("listitem")).toHaveCount(1);
  await expect(card.getByRole("listitem")).toContainText("Google");
  const asked = [page, other.page].map((each) => each.request.get("/v1/auth/sessions"));
  expect((await Promise.all(asked)).map((answer) => answer.status())).toEqual([200, 401]);

  // A person without a password cannot disconnect the only provider, and the page says so.
  await inDatabase("UPDATE user_account SET password_hash = NULL WHERE email = $1", [person.email]);
  await open(page, "/account");
  await expect(card).toContainText("This is your only way to sign in");
  await expect(card.getByRole("button")).toHaveCount(0);
  await expectAccessible(page);
  await keepLooks(page, "identities-last");
  for (const each of [context, other.context]) await each.close();
});
