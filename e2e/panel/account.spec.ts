import { test as signedOut } from "@playwright/test";
import { makePerson, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open, signIn } from "./panel";

const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 800 };
const NEXT = "a much longer password";

signedOut(
  "a person ends one session, changes the password, and signs out everywhere",
  { tag: "@full" },
  async ({ browser }) => {
    const person = makePerson("member");
    const start = async () => {
      const page = await (await browser.newContext({ baseURL: world.baseUrl })).newPage();
      await open(page, "/sign-in");
      await signIn(page, person);
      await page.waitForURL("**/jobs");
      return page;
    };
    const asked = (page: Awaited<ReturnType<typeof start>>) => page.request.get("/v1/auth/sessions");
    const [page, other, third] = [await start(), await start(), await start()];

    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Account" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Account" })).toBeVisible();
    await open(page, "/account");
    const sessions = page.getByRole("region", { name: "Sessions" });
    const rows = sessions.getByRole("listitem");
    await expect(rows).toHaveCount(3);
    const mine = rows.filter({ hasText: "This session" });
    await expect(mine).toHaveCount(1);
    await expect(mine).toContainText(/Chrome on .*Browser.*Signed in .*Last seen/);
    await expectAccessible(page);

    // One of the two other sessions ends, and the remaining one still works.
    expect([(await asked(other)).status(), (await asked(third)).status()]).toEqual([200, 200]);
    await rows
      .filter({ hasNotText: "This session" })
      .first()
      .getByRole("button", { name: /^Sign out / })
      .click();
    await expect(page.getByText("Chrome on Linux signed out")).toBeVisible();
    await expect(rows).toHaveCount(2);
    const left = [(await asked(other)).status(), (await asked(third)).status()];
    expect([...left].sort()).toEqual([200, 401]);
    const [kept, ended] = left[0] === 200 ? [other, third] : [third, other];
    await ended.goto("/account");
    await expect(ended).toHaveURL(/\/sign-in\?callbackUrl=%2Faccount/);

    // A script of our own pages may omit body and content type.
    const removed = await page.evaluate(async () => {
      const answer = await fetch("/v1/auth/sessions/ses_00000000000000000000000000", { method: "DELETE" });
      return answer.status;
    });
    expect(removed).toBe(404);

    await page.setViewportSize(PHONE);
    const [present, next] = [page.getByLabel("Current password"), page.getByLabel("New password")];
    const change = page.getByRole("button", { name: "Change password" });
    await present.fill(person.password);
    await next.fill("short");
    await change.click();
    await expect(next).toHaveAccessibleDescription(/at least 12 characters/);
    await expect(next).toBeFocused();
    await next.fill(NEXT);
    await present.fill("not the password");
    await change.click();
    await expect(present).toHaveAccessibleDescription("The password is not correct.");
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await keepLooks(page, "account");
    await page.setViewportSize(WIDE);
    await keepLooks(page, "account");
    await expectAccessible(page);

    await present.fill(person.password);
    await change.click();
    await expect(page.getByText("Password changed.")).toBeVisible();
    await expect(rows).toHaveCount(1);
    expect([(await asked(page)).status(), (await asked(kept)).status()]).toEqual([200, 401]);

    person.password = NEXT;
    const again = await start();
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await expectAccessible(page);
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out everywhere" }).click();
    await expect(page.getByRole("status")).toHaveText("You are signed out on every device.");
    expect([(await asked(page)).status(), (await asked(again)).status()]).toEqual([401, 401]);
    for (const each of [page, other, third, again]) await each.context().close();
  },
);
