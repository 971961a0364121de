import { test } from "@playwright/test";
import { newId } from "@/server/platform/ids";
import { operate, quoted, signedIn, statusOf } from "../needs";
import { admin, inDatabase, makePerson, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, keepLooks, open } from "./panel";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };

test("a failed refund is shown to the member, and an operator retries it until the money is refunded", {
  tag: "@long",
}, async ({ browser }) => {
  const { projectId } = admin(
    "project",
    "create",
    "--name",
    "Refunds",
    "--organization",
    world.organizationId,
  );
  const { page: member } = await signedIn(browser, makePerson("member"));
  const { page: operator } = await signedIn(browser, makePerson("owner", { isOperator: true }));
  const { requestId, quote } = await quoted(operator, projectId);
  const send = async (procedure: string, data: object) => {
    const answer = await member.request.post(`/api/trpc/${procedure}`, {
      data,
      headers: { origin: world.baseUrl },
    });
    expect(answer.status()).toBe(200);
    return (await answer.json()).result.data;
  };
  const { paymentId } = await send("requests.pay", { quoteId: quote.quoteId });
  await send("billing.decideTestPayment", { paymentId, decision: "pay" });
  const failedId = newId("refund");
  await inDatabase(
    `INSERT INTO payment_refund (id, payment_id, organization_id, reason, requested_by, note, state, last_error, created_at, completed_at)
     VALUES ($1, $2, $3, 'operator', 'test', 'It does not read charts.', 'failed', 'charge_disputed', now(), now())`,
    [failedId, paymentId, world.organizationId],
  );

  const pages = [
    [member, `/billing?organizationId=${world.organizationId}`, "billing"],
    [member, `/projects/${projectId}/requests`, "member-list"],
    [member, `/projects/${projectId}/requests/${requestId}`, "member"],
    [operator, "/operator/requests?show=paid", "queue"],
    [operator, "/operator/requests?show=refunds", "queue-refunds"],
    [operator, `/operator/requests/${requestId}`, "operator"],
  ] as const;
  for (const [page, path, name] of pages) {
    await open(page, path);
    for (const size of [DESK, PHONE]) {
      await page.setViewportSize(size);
      await expect(page.locator('[data-refund="failed"]:visible').first()).toHaveText("Refund failed");
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await keepLooks(page, `refund-${name}`);
    }
  }
  await open(member, `/billing?organizationId=${world.organizationId}`);
  await member.locator(`[data-commission="${paymentId}"]`).getByRole("link").click();
  await member.waitForURL(`**/projects/${projectId}/requests/${requestId}`);
  await expect(member.getByRole("region", { name: "Commission quote" })).toContainText("Refund failed");
  expect(await statusOf(requestId)).toBe("paid");

  await operator.setViewportSize(DESK);
  await open(operator, "/operator/requests");
  await operator
    .getByRole("link", { name: /^Refund failed\s*[1-9]/ })
    .first()
    .click();
  await operator.waitForURL("**/operator/requests?show=refunds");
  await operator.locator(`[data-request="${requestId}"] a:visible`).click();
  await operator.waitForURL(`**/operator/requests/${requestId}`);
  const failed = operator.locator(`[data-payment="${paymentId}"]`);
  await expect(failed).toContainText("Provider response: charge_disputed");
  await operator.getByRole("button", { name: "Retry refund" }).click();
  const dialog = operator.getByRole("alertdialog");
  await expect(dialog).toContainText("$1,250.00");
  await expectAccessible(operator);
  await keepLooks(operator, "refund-asked");
  await dialog.getByRole("button", { name: "Retry refund" }).dblclick();
  await expect.poll(() => statusOf(requestId)).toBe("refunded");
  await expect(operator.locator("h1 + [role=status]")).toHaveText("Refunded");
  await expect(failed).toContainText("Refunded");
  await expect(operator.locator('[data-action="payment.refund_due"]:visible')).toHaveCount(1);
  // A late click starts nothing.
  expect(await operate(operator, "retryRefund", { paymentId, refundId: failedId })).toMatchObject({
    state: "done",
  });
  await open(member, `/projects/${projectId}/requests/${requestId}`);
  await expect(member.locator("h1 + [role=status]")).toHaveText("Refunded");
  for (const page of [member, operator]) await page.context().close();
});
