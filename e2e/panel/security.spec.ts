import { test } from "@playwright/test";
import { admin, makePerson, unique, world } from "../world";
import { look, setUp } from "./authenticator";
import { expect, open, signIn } from "./panel";

test("an owner requires a second factor, and a member is led to set it up and continues", {
  tag: "@long",
}, async ({ browser }) => {
  const name = unique("Vault");
  const { organizationId } = admin("organization", "create", "--name", name);
  const { projectId } = admin("project", "create", "--name", "Door", "--organization", organizationId);
  const people = [makePerson("owner", { organizationId }), makePerson("member", { organizationId })] as const;
  const enter = async (person: (typeof people)[number]) => {
    const page = await (await browser.newContext({ baseURL: world.baseUrl })).newPage();
    await open(page, "/sign-in");
    await signIn(page, person);
    await page.waitForURL("**/jobs");
    return page;
  };
  const [owner, member] = [await enter(people[0]), await enter(people[1])];
  const settings = `/projects/${projectId}/organization?view=settings`;

  await open(owner, settings);
  const security = owner.getByRole("region", { name: "Security" });
  await expect(security).toContainText("2 of 2 members have none.");
  await expect(security.getByRole("button", { name: "Require second factor" })).toBeDisabled();
  await security.getByRole("link", { name: "Set up your own" }).click();
  await owner.waitForURL("**/account");
  await setUp(owner, people[0].password);
  await open(owner, settings);
  await security.getByRole("button", { name: "Require second factor" }).click();
  await owner.getByRole("alertdialog").getByRole("button", { name: "Require second factor" }).click();
  await expect(security).toContainText("have no access until they set one up. 1 of 2 members has none.");
  await security.getByLabel("Session length (hours)").fill("12");
  // The message of the first change may still be there.
  const saved = owner.waitForResponse((response) => response.url().includes("organizations.setSecurity"));
  await security.getByRole("button", { name: "Save" }).click();
  expect((await saved).ok()).toBe(true);
  await expect(owner.getByText("Security settings saved").first()).toBeVisible();
  await owner.reload();
  await expect(security.getByLabel("Session length (hours)")).toHaveValue("12");
  await look(owner, "security-settings");

  // The member is led there by a link in the open page, and by URL.
  await member.getByRole("link", { name: "API keys" }).click();
  await member.waitForURL("**/account");
  await open(member, `/projects/${projectId}/jobs`);
  await expect(member).toHaveURL(/\/account$/);
  const asked = member.getByRole("status").filter({ hasText: name });
  await expect(asked).toContainText("requires a second factor");
  await look(member, "security-asked");
  await setUp(member, people[1].password);
  await expect(asked).toHaveCount(0);
  await open(member, `/projects/${projectId}/jobs`);
  await expect(member.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
  for (const page of [owner, member]) await page.context().close();
});
