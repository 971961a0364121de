import { file, needOf, operate, quoted, signedIn, statusOf, submitRequest } from "../needs";
import { admin, makePerson, unique, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };
test.describe.configure({ timeout: 240_000 });

let projectId = "";
test.beforeAll(() => {
  ({ projectId } = admin("project", "create", "--name", "Needs", "--organization", world.organizationId));
});
const roomPath = () => `/projects/${projectId}/requests`;

test("an empty project shows how an agent files a request, on a desktop and on a phone", {
  tag: "@long",
}, async ({ page }) => {
  const empty = admin("project", "create", "--name", "Empty", "--organization", world.organizationId);
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    await open(page, `/projects/${empty.projectId}/requests`);
    await expect(page.getByRole("region", { name: "command" })).toContainText("/v1/capability-requests");
    await expect(page.getByRole("button", { name: "Copy command" })).toBeVisible();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});

test("a member writes a request, sees errors at their fields, submits and revises it", {
  tag: "@full",
}, async ({ page }) => {
  await open(page, roomPath());
  await page.getByRole("link", { name: "Write request" }).click();
  await page.waitForURL("**/requests/new");
  const summary = unique("Sort stamps");
  await page.getByLabel("Suggested key").fill("stamp.sort.v1");
  await page.getByText("Advanced: JSON").click();
  await expect(page.getByLabel("Proposed capability")).toHaveValue(/"capabilityKey": "stamp.sort.v1"/);
  const cases = page.getByLabel("Acceptance cases");
  await cases.fill('[{ "input": 1 }');
  await expect(page.getByText(/This is not valid JSON/)).toBeVisible();
  await expect(cases).toHaveAttribute("aria-invalid", "true");
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByLabel("Summary")).toBeFocused();
  await expect(page.getByText("Fill in this field.").first()).toBeVisible();
  await expectAccessible(page);
  await cases.fill('[{ "input": { "stamp": 1 }, "expected": { "country": "NO" } }]');
  await expect(page.getByText(/This is not valid JSON/)).toHaveCount(0);
  await page.getByLabel("Summary").fill(summary);
  await page.getByLabel("Need", { exact: true }).fill("A photograph goes in, a country comes out.");
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.waitForURL(/\/requests\/cr_/);
  const status = page.locator("h1 + [role=status]");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(summary);
  await expect(status).toHaveText("Draft");
  await expect(page.getByText("Your turn")).toBeVisible();
  await page.getByText("1 acceptance case").click();
  await expect(page.getByRole("region", { name: "Acceptance case 1" })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Submit request" }).click();
  await expect(status).toHaveText("Submitted");
  const thread = page.getByRole("region", { name: "History" });
  await expect(thread.getByRole("listitem")).toHaveText([
    new RegExp(`Filed as a draft.*${world.member.email}`),
    new RegExp(`Submitted.*${world.member.email}`),
  ]);

  await page.getByRole("link", { name: "Revise" }).click();
  await page.waitForURL("**/revise");
  await expect(page.getByLabel("Summary")).toHaveValue(summary);
  await page.getByLabel("Need", { exact: true }).fill("Two photographs go in.");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save revision" }).click();
  await page.waitForURL(/\/requests\/cr_[^/]*$/);
  await expect(status).toHaveText("Draft");
  await expect(page.getByText("Two photographs go in.")).toBeVisible();
  await page.getByText(/^Revision 1:/).click();
  await expect(page.getByText("A photograph goes in, a country comes out.")).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});

test("the list is filtered by state and paginated, and long words do not break the layout", {
  tag: "@long",
}, async ({ page }) => {
  const crowded = admin("project", "create", "--name", "Crowded", "--organization", world.organizationId);
  const long = await file(
    needOf(crowded.projectId, { summary: `${"W".repeat(290)} end`, need: "x".repeat(19_000) }),
  );
  for (let n = 0; n < 26; n++) await file(needOf(crowded.projectId));
  await submitRequest(long.id);
  const list = page.getByRole("table", { name: "Requests, newest first" });
  await open(page, `/projects/${crowded.projectId}/requests`);
  await expect(list.locator("tbody").getByRole("row")).toHaveCount(25);
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL("**cursor=*");
  await expect(list.locator("tbody").getByRole("row")).toHaveCount(2);
  await page.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Submitted" }).click();
  await page.waitForURL("**status=submitted*");
  await expect(list.locator("tbody").getByRole("row")).toHaveCount(1);
  for (const path of [`?status=submitted`, `?status=paid`, `/${long.id}`]) {
    await open(page, `/projects/${crowded.projectId}/requests${path}`);
    for (const size of [DESK, PHONE]) {
      await page.setViewportSize(size);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
  }
});

test.describe("other people", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("a viewer can read but not write, and a stranger gets not found", { tag: "@long" }, async ({
    page,
    browser,
  }) => {
    const { id } = await file(needOf(projectId));
    await enter(page.context(), makePerson("viewer"));
    await open(page, `${roomPath()}/${id}`);
    await expect(page.locator("h1 + [role=status]")).toHaveText("Draft");
    await expect(page.getByRole("button", { name: "Submit" })).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Revise" })).toHaveCount(0);
    await open(page, `${roomPath()}/new`);
    await expect(page.getByText("Read-only access")).toBeVisible();
    await expectAccessible(page);

    const { organizationId } = admin("organization", "create", "--name", unique("Elsewhere"));
    const stranger = makePerson("member", { organizationId });
    const other = await signedIn(browser, stranger);
    for (const requestId of [id, "cr_00000000000000000000000000"]) {
      const answer = await other.page.goto(`${roomPath()}/${requestId}`);
      expect(answer?.status()).toBe(404);
      await expect(other.page.getByText("Page not found")).toBeVisible();
    }
    await other.context.close();
  });

  test("an operator's question or refusal is shown to the customer with the next step", {
    tag: "@long",
  }, async ({ browser, page }) => {
    const operator = await signedIn(browser, world.operator);
    const asked = await file(needOf(projectId));
    const declined = await file(needOf(projectId));
    for (const [{ id }, act, message] of [
      [asked, "askForInformation", "Which drawings?\nSend three."],
      [declined, "decline", "We do not read drawings."],
    ] as const) {
      await submitRequest(id);
      await operate(operator.page, "openForReview", { request_id: id });
      await operate(operator.page, act, { requestId: id, message });
    }
    expect(await statusOf(asked.id)).toBe("needs_information");
    const price = await quoted(operator.page, projectId);
    await operator.context.close();

    await enter(page.context(), world.member);
    await open(page, `${roomPath()}/${asked.id}`);
    await expect(page.getByText("Question from the operator")).toBeVisible();
    await expect(page.getByText("Your turn")).toBeVisible();
    await expectAccessible(page);
    await open(page, `${roomPath()}/${declined.id}`);
    await expect(page.getByText("Reason for declining")).toBeVisible();
    await expect(page.getByText("Nothing to do")).toBeVisible();
    await expectAccessible(page);
    await open(page, `${roomPath()}/${price.requestId}`);
    const quote = page.getByRole("region", { name: "Commission quote" });
    await expect(quote).toContainText("$1,250.00");
    await expect(quote.getByRole("timer")).toContainText("in 14 days");
    await expectAccessible(page);
    await quote.getByRole("link", { name: "Review and pay" }).click();
    await page.waitForURL(`**${price.path}`);
    await expect(page.getByRole("button", { name: "Approve and pay $1,250.00" })).toBeVisible();
  });
});
