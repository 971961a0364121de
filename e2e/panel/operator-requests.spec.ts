import { call, makePerson, unique, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

// Only operators see these pages, and the other tests' account is a member.
test.use({ storageState: { cookies: [], origins: [] } });

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

let operator = { email: "", password: "" };
test.beforeAll(() => {
  operator = makePerson("owner", { isOperator: true });
});

async function post(path: string, body: unknown) {
  const answer = await call(path, { body });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

/** A submitted request with two revisions, filed by a key. */
async function file(summary: string): Promise<string> {
  const wording = {
    summary,
    need: "Read drawings.\nGive every length in inches.",
    constraints: { maxLatencySeconds: 30 },
  };
  const { id } = await post("/v1/capability-requests", { ...wording, projectId: world.projectId });
  const need = "Read drawings.\nGive every length in millimetres.";
  await post(`/v1/capability-requests/${id}/revisions`, {
    ...wording,
    need,
    acceptanceCases: [{ input: 1, expected: 2 }],
  });
  await post(`/v1/capability-requests/${id}/submit`, {});
  return id;
}

const statusOf = async (id: string) => (await (await call(`/v1/capability-requests/${id}`)).json()).status;

test("an operator takes a request from the queue, compares its revisions and issues a quote", {
  tag: "@full",
}, async ({ page }) => {
  const summary = unique("Read measurements off a drawing");
  const id = await file(summary);
  await page.setViewportSize(DESK);
  await enter(page.context(), operator);
  await open(page, "/");
  await page.getByRole("button", { name: "Account:" }).click();
  await page.getByRole("menuitem", { name: "Capability requests" }).click();
  await page.waitForURL("**/operator/requests");
  await open(page, "/operator/requests?show=all");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize(DESK);
  await page.getByRole("link", { name: summary }).click();
  await page.waitForURL(`**/operator/requests/${id}`);

  const need = page.locator('[data-member="need"]');
  await expect(need.locator("del:visible")).toHaveText("inches");
  await expect(need.locator("ins:visible")).toHaveText("millimetres");
  await expect(page.locator('[data-member="acceptanceCases"]')).toContainText("Added");
  await expect(page.locator('[data-member="constraints"]')).toContainText("No change");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expect(need.locator("ins:visible")).toHaveText("millimetres");
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize(DESK);

  await expect(page.getByRole("button", { name: "Issue quote" })).toHaveCount(0);
  await page.getByRole("button", { name: "Open for review" }).dblclick();
  await page.getByRole("button", { name: "Issue quote" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await expect(dialog.getByText("Enter an amount.")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("Price, before tax").fill("1250.00");
  await dialog.getByLabel("Description").fill("about $0.02 a page");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await expect(dialog).toContainText("$1,250.00");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Issue quote" }).dblclick();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator("h1 + [role=status]")).toHaveText("Quoted");
  expect(await statusOf(id)).toBe("quoted");
  await expect(page.locator('[data-action="capability_request.quoted"]:visible')).toContainText(
    operator.email,
  );
  await expect(page.locator('[data-action="capability_request.quoted"]:visible')).toContainText(
    /\d+\.\d+|::/,
  );
});

test("an answer to a revision that has since been replaced is refused, and the page shows the new one", {
  tag: "@long",
}, async ({ page }) => {
  const id = await file(unique("Reworded"));
  await enter(page.context(), operator);
  await open(page, `/operator/requests/${id}`);
  await page.getByRole("button", { name: "Open for review" }).click();
  await page.getByRole("button", { name: "Decline" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("Outside of what we do.");
  await post(`/v1/capability-requests/${id}/revisions`, { summary: "Another", need: "Another need" });
  await dialog.getByRole("button", { name: "Decline request" }).click();
  await expect(page.getByText("The request has changed")).toBeVisible();
  await expect(page.locator("h1")).toHaveText("Another");
  expect(await statusOf(id)).toBe("draft");
});

test("a member cannot open the operator's request pages", { tag: "@long" }, async ({ page }) => {
  await enter(page.context(), world.member);
  await open(page, "/");
  for (const path of ["/operator/requests", "/operator/requests/cr_00000000000000000000000000"])
    expect((await page.goto(path))?.status()).toBe(404);
});
