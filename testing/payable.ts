import type { Ctx, Role } from "@/server/domain/ctx";
import * as requests from "@/server/domain/requests";
import { newId } from "@/server/platform/ids";
import { makeRequest, moveRequest } from "./commissions";
import { messagesOf, type startStripe } from "./stripe";
import { makeProject, type TestProject } from "./world";

/** A signed-in person of these organizations, who has no row. */
export function personOf(
  project: Pick<TestProject, "ctx">,
  memberships: [organizationId: string, role: Role][],
  isOperator = false,
): Ctx {
  const id = newId("user");
  const principal = { kind: "human_session" as const, id, email: `${id}@example.com`, isOperator };
  return { ...project.ctx, principal: { ...principal, memberships: new Map(memberships) } };
}

/** A reviewed request with a quote, and the people concerned. */
export async function makePayable({
  priceMicros = 1_250_000_000,
  currency = "USD" as "USD" | "CAD",
  startsAt = new Date(),
} = {}) {
  const project = await makeProject({ walletMicros: 0 });
  project.clock.advance(startsAt.getTime() - project.clock.now().getTime());
  const operator = personOf(project, [], true);
  const member = personOf(project, [[project.organizationId, "member"]]);
  const { requestId, revisionId } = await makeRequest(project);
  const review = async () => {
    await moveRequest(project.ctx, requestId, "submitted");
    await moveRequest(operator, requestId, "in_review");
  };
  const issue = async (revision: string = revisionId) => {
    const { quoteId } = await requests.issueQuote(operator, {
      requestId,
      revisionId: revision,
      priceMicros,
      currency,
      runtimePricing: { mode: "metered", billingCurrency: currency, display: "about $0.02 a page" },
      targetBusinessDays: 10,
    });
    return quoteId;
  };
  await review();
  return {
    ...project,
    operator,
    member,
    requestId,
    review,
    issue,
    quoteId: await issue(),
    priceMicros,
    currency,
  };
}

export type Payable = Awaited<ReturnType<typeof makePayable>>;
type Stripe = Awaited<ReturnType<typeof startStripe>>;

/** Stripe's events about a payment, and the charge that Stripe would create. */
export function soldBy(stripe: Stripe, paymentId: string, at: () => Date, taxCents = 0) {
  const session = [...stripe.sessions.values()].find(({ form }) => form.client_reference_id === paymentId);
  if (!session) throw new Error(`Stripe was asked for no checkout of ${paymentId}`);
  const { form } = session;
  const cents = Number(form["line_items[0][price_data][unit_amount]"]);
  const say = messagesOf({
    paymentId,
    organizationId: form["metadata[organizationId]"] ?? "",
    sessionId: session.id,
    cents,
    taxCents,
    currency: form["line_items[0][price_data][currency]"] ?? "",
    at,
  });
  stripe.intents.set(say.intent, say.metadata);
  const charge = { cents: cents + taxCents, refundedCents: 0, lostCents: 0 };
  stripe.charges.set(say.intent, charge);
  return { session, say, charge };
}
