import type { Page } from "@playwright/test";
import { CapabilityRequest, CommissionQuote } from "@/server/contract/requests";
import {
  askApi,
  file,
  needOf,
  operate,
  quoted,
  readRequest,
  signedIn,
  statusOf,
  submitRequest,
} from "../needs";
import { admin, call, makePerson, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, signIn, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };
const SHIPPED = "compute.evaluate.v1";
const DAY_MS = 86_400_000;

// Several people, each in their own browser context, work on one request.
test.use({ storageState: { cookies: [], origins: [] } });
test.describe.configure({ timeout: 300_000 });

let projectId = "";
test.beforeAll(() => {
  ({ projectId } = admin(
    "project",
    "create",
    "--name",
    "Commissions",
    "--organization",
    world.organizationId,
  ));
});

test("an agent files a request, an operator quotes it, a member pays, the operator ships it; the agent can read every state", {
  tag: "@full",
}, async ({ browser }) => {
  // The agent finds nothing, and the response shows where to file a request.
  const intent = "transcribe a phone call";
  const resolved = await call("/v1/capabilities/resolve", { key: world.unboundApiKey, body: { intent } });
  const resolution = await resolved.json();
  expect(resolution).toMatchObject({ resolution: "no_match_requestable" });
  expect(JSON.stringify(resolution)).toContain("POST /v1/capability-requests");
  const filed = await file(needOf(projectId));
  const { id } = filed;
  expect(filed).toMatchObject({ status: "draft", revision: { number: 1 }, quoteId: null });
  const summary = unique("Calibrate theodolites");
  const revised = CapabilityRequest.parse(
    await askApi(`/${id}/revisions`, { body: { ...needOf(projectId, { summary }) } }),
  );
  expect(revised).toMatchObject({ status: "draft", revision: { number: 2 } });
  expect(revised.requestHash).not.toBe(filed.requestHash);
  expect(await submitRequest(id)).toMatchObject({ status: "submitted", requestHash: revised.requestHash });
  expect((await call(`/v1/capability-requests/${id}/quote`, { key: world.unboundApiKey })).status).toBe(404);

  // The operator reviews it and issues a quote.
  const operator = await signedIn(browser, world.operator);
  await open(operator.page, "/operator/requests");
  await operator.page.getByRole("link", { name: summary }).first().click();
  await operator.page.waitForURL(`**/operator/requests/${id}`);
  await operator.page.getByRole("button", { name: "Open for review" }).click();
  await expect.poll(() => statusOf(id)).toBe("in_review");
  await operator.page.getByRole("button", { name: "Issue quote" }).click();
  const dialog = operator.page.getByRole("dialog");
  await dialog.getByLabel("Price, before tax").fill("1250.00");
  await dialog.getByLabel("Delivery (business days)").fill("10");
  await dialog.getByLabel("Description").fill("about $0.02 a reading");
  await dialog.getByLabel(/Note to the customer/).fill("We start on Monday.");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByRole("button", { name: "Issue quote" }).click();
  await expect.poll(() => statusOf(id)).toBe("quoted");
  const quote = CommissionQuote.parse(await askApi(`/${id}/quote`));
  expect(quote).toMatchObject({
    quoteKind: "commission",
    notExecutionQuoteId: true,
    status: "active",
    requestHash: revised.requestHash,
    commissionPrice: { amountMicros: 1_250_000_000, currency: "USD" },
    runtimePricing: { status: "projected", display: "about $0.02 a reading" },
    delivery: { targetBusinessDays: 10 },
    guarantee: { kind: "full-satisfaction-refund", acceptanceWindowDays: 7 },
    approval: { humanRequired: true },
  });
  expect(Date.parse(quote.expiresAt) - Date.parse(quote.issuedAt)).toBe(14 * DAY_MS);

  // The agent cannot pay: the approval page ignores its key and asks for sign-in.
  const path = new URL(quote.approval.approvalUrl).pathname;
  const asAgent = await fetch(new URL(path, world.baseUrl), {
    headers: { authorization: `Bearer ${world.unboundApiKey}` },
    redirect: "manual",
  });
  expect(asAgent.status).toBe(307);
  expect(asAgent.headers.get("location")).toContain("/sign-in");

  // The member follows the link, signs in, and is back on the page.
  const context = await browser.newContext({ baseURL: world.baseUrl, viewport: DESK });
  const page = await context.newPage();
  await open(page, path);
  await page.waitForURL("**/sign-in?*");
  await signIn(page, world.member);
  await page.waitForURL(`**${path}`);
  await open(page, path);
  await expect(page.getByRole("heading", { name: "Approve commission" })).toBeVisible();
  const offer = page.getByRole("region", { name: summary });
  for (const words of ["$1,250.00", "about $0.02 a reading", "About 10 business days", "We start on Monday."])
    await expect(offer).toContainText(words);
  await expect(offer.getByRole("timer")).toContainText("in 14 days");
  await expect(page.getByRole("list").last().getByRole("listitem")).toHaveCount(5);
  await offer.getByText("1 acceptance case").click();
  await expect(page.getByRole("region", { name: "Acceptance case 1" })).toBeVisible();
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }

  // The keyboard alone: leave the checkout, return with the back button, then pay.
  await page.getByRole("button", { name: "Approve and pay $1,250.00" }).press("Enter");
  await page.waitForURL("**/checkout/test/pmt_*");
  const checkout = new URL(page.url()).pathname;
  await page.goBack();
  await page.waitForURL(`**${path}`);
  const pay = page.getByRole("button", { name: "Approve and pay $1,250.00" });
  await expect(pay).toBeEnabled();
  await pay.dblclick();
  await page.waitForURL(`**${checkout}`); // the same checkout: no double payment
  await open(page, checkout);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForURL("**result=canceled*");
  await expect(page.getByRole("status")).toContainText("Nothing was charged");
  expect(await statusOf(id)).toBe("quoted");
  await pay.click();
  await page.waitForURL("**/checkout/test/pmt_*");
  await open(page, new URL(page.url()).pathname);
  await page.getByRole("button", { name: "Pay $1,250.00" }).click();
  await page.waitForURL("**result=success*");
  await expect(page.getByRole("heading", { name: "Commission paid" })).toBeVisible();
  await expect(page.getByRole("status")).toContainText("Paid: the work has begun");
  await expect(page.getByRole("status")).toContainText(`${world.member.email} paid $1,250.00`);
  await expectAccessible(page);
  expect(await statusOf(id)).toBe("paid");
  expect(CommissionQuote.parse(await askApi(`/${id}/quote`)).status).toBe("paid");
  // Late visitors, and the payer going back, see that it is paid.
  await open(page, path);
  await expect(page.getByRole("status")).toContainText("Already paid: the work has begun");
  await expect(page.getByRole("button", { name: /pay/i })).toHaveCount(0);
  await page.goto(checkout);
  await expect(page.getByText("This checkout is closed.")).toBeVisible();

  // The operator records the delivered capability.
  await operator.page.reload();
  await open(operator.page, `/operator/requests/${id}`);
  await operator.page.getByRole("button", { name: "Record capability" }).click();
  const shipping = operator.page.getByRole("dialog");
  await shipping.getByLabel("Capability key").fill(SHIPPED);
  await shipping.getByRole("button", { name: "Record capability" }).click();
  await expect.poll(() => statusOf(id)).toBe("fulfilled");
  expect(await readRequest(id)).toMatchObject({ capabilityKey: SHIPPED, fulfilledAt: expect.any(String) });
  await open(page, path);
  await expect(page.getByRole("heading", { name: "Capability shipped" })).toBeVisible();
  await page.getByRole("link", { name: SHIPPED }).click();
  await page.waitForURL(`**/catalog/${SHIPPED}`);
  await open(page, `/projects/${projectId}/requests/${id}`);
  const thread = page.getByRole("region", { name: "History" });
  await expect(thread.getByRole("listitem")).toHaveText([
    /Filed as a draft/,
    /Revised/,
    /Submitted/,
    /Opened for review/,
    /Quoted/,
    /^Paid/,
    /Shipped/,
  ]);

  // Everyone concerned got their email.
  for (const [subject, { email }] of [
    ["For review", world.operator],
    ["A quote is ready", world.member],
    ["Paid", world.member],
    ["Ready to build", world.operator],
    ["Shipped", world.member],
  ] as const)
    await findLetter(operator.page, `${subject}: “${summary}”`, email);
  await context.close();
  await operator.context.close();
});

/** Finds an email in the outbox, on any page: each of the organization's many members gets their own. */
async function findLetter(page: Page, subject: string, to: string): Promise<void> {
  await open(page, "/operator/outbox");
  const letter = page
    .getByRole("main")
    .getByRole("row")
    .filter({ hasText: subject })
    .filter({ hasText: to })
    .first();
  const older = page.getByRole("link", { name: "Older" });
  for (;;) {
    await expect(letter.or(older).first()).toBeVisible();
    if (await letter.isVisible()) return;
    const { href } = new URL(page.url());
    await older.click();
    await page.waitForURL((url) => url.href !== href);
  }
}

test("a replaced quote links to the newer quote once there is one", { tag: "@long" }, async ({ browser }) => {
  const operator = await signedIn(browser, world.operator);
  const member = await signedIn(browser, world.member);
  const first = await quoted(operator.page, projectId);
  await open(member.page, first.path);
  await askApi(`/${first.requestId}/revisions`, { body: needOf(projectId) });
  // The page is still open: paying is refused, and the page shows why.
  await member.page.getByRole("button", { name: /^Approve and pay/ }).click();
  await expect(member.page.getByRole("heading", { name: "This quote was replaced" })).toBeVisible();
  await expect(member.page.getByRole("status")).toContainText("The request was revised");
  await expectAccessible(member.page);
  expect(
    (await call(`/v1/capability-requests/${first.requestId}/quote`, { key: world.unboundApiKey })).status,
  ).toBe(410);

  await submitRequest(first.requestId);
  await operate(operator.page, "openForReview", { request_id: first.requestId });
  const { currentRevisionId } = await readRequest(first.requestId);
  const { quoteId } = CommissionQuote.parse(
    await operate(operator.page, "issueQuote", {
      requestId: first.requestId,
      revisionId: currentRevisionId,
      priceMicros: 900_000_000,
      currency: "USD",
      runtimePricing: { mode: "free", billingCurrency: "USD", display: "nothing" },
      targetBusinessDays: 1,
    }),
  );
  await open(member.page, first.path);
  await member.page.getByRole("link", { name: "Open the newer quote" }).click();
  await member.page.waitForURL(`**/${quoteId}`);
  await expect(member.page.getByRole("button", { name: "Approve and pay $900.00" })).toBeVisible();
  await operator.context.close();
  await member.context.close();
});

test("a viewer sees who can pay; a stranger and an unknown URL get the same page, where they can switch accounts", {
  tag: "@long",
}, async ({ browser }) => {
  const operator = await signedIn(browser, world.operator);
  const { path, summary } = await quoted(operator.page, projectId);
  await operator.context.close();
  const viewer = await signedIn(browser, makePerson("viewer"));
  await open(viewer.page, path);
  await expect(viewer.page.getByRole("region", { name: summary })).toContainText("$1,250.00");
  await expect(viewer.page.getByText("You can't pay this quote")).toBeVisible();
  await expect(viewer.page.getByRole("button", { name: /pay/i })).toHaveCount(0);
  await expectAccessible(viewer.page);
  await viewer.context.close();

  const { organizationId } = admin("organization", "create", "--name", unique("Elsewhere"));
  const stranger = await signedIn(browser, makePerson("owner", { organizationId }));
  const seen: string[] = [];
  for (const address of ["/approve/capability-quotes/cq_00000000000000000000000000", path]) {
    const answer = await stranger.page.goto(address);
    expect(answer?.status()).toBe(404);
    seen.push((await stranger.page.getByRole("main").textContent()) ?? "");
    await expectAccessible(stranger.page);
  }
  expect(seen[0]).toBe(seen[1]);
  expect(seen[1]).not.toContain(summary);
  await stranger.page.getByRole("link", { name: "Switch account" }).click();
  await stranger.page.waitForURL("**/sign-in?*");
  await open(stranger.page, new URL(stranger.page.url()).pathname + new URL(stranger.page.url()).search);
  await signIn(stranger.page, world.member);
  await stranger.page.waitForURL(`**${path}`);
  await expect(stranger.page.getByRole("button", { name: "Approve and pay $1,250.00" })).toBeVisible();
  await stranger.context.close();
});

test("the time left counts down, in seconds at the end, and the page shows when the quote has expired", {
  tag: "@long",
}, async ({ browser }) => {
  const operator = await signedIn(browser, world.operator);
  const member = await signedIn(browser, world.member);
  const { path, quote } = await quoted(operator.page, projectId);
  const { page } = member;
  await page.clock.install();
  await open(page, path);
  const timer = page.getByRole("timer");
  await expect(timer).toHaveText("in 14 days");
  // No server calls from here on, because the server knows the real date.
  await page.route("**/api/trpc/**", (route) => route.abort());
  const left = Date.parse(quote.expiresAt) - Date.now();
  await page.clock.fastForward(left - 10 * 60_000);
  await expect(timer).toHaveText(/^in (9|10) min \d\d s$/);
  await page.clock.fastForward(11 * 60_000);
  await expect(page.getByRole("heading", { name: "This quote has expired" })).toBeVisible();
  await expect(page.getByRole("button", { name: /pay/i })).toHaveCount(0);
  await expect(timer).toHaveCount(0);
  await expectAccessible(page);
  await operator.context.close();
  await member.context.close();
});

test("two members share one checkout, and the later one sees that it is already paid", {
  tag: "@long",
}, async ({ browser }) => {
  const operator = await signedIn(browser, world.operator);
  const [one, other] = [await signedIn(browser, world.member), await signedIn(browser, makePerson("member"))];
  const { path, requestId } = await quoted(operator.page, projectId);
  for (const { page } of [one, other]) await open(page, path);
  await Promise.all(
    [one, other].map(async ({ page }) => {
      await page.getByRole("button", { name: /^Approve and pay/ }).click();
      await page.waitForURL("**/checkout/test/pmt_*");
    }),
  );
  expect(new URL(one.page.url()).pathname).toBe(new URL(other.page.url()).pathname);
  for (const { page } of [one, other]) {
    await open(page, new URL(page.url()).pathname);
  }
  await Promise.all([one, other].map(({ page }) => page.getByRole("button", { name: /^Pay/ }).click()));
  for (const { page } of [one, other]) {
    await page.waitForURL(`**${path}?*`);
    await expect(page.getByRole("status")).toContainText("the work has begun");
  }
  expect(await statusOf(requestId)).toBe("paid");
  for (const { context } of [one, other, operator]) await context.close();
});
