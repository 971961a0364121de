import type { Browser, BrowserContext, Page } from "@playwright/test";
import {
  CapabilityRequest,
  CommissionQuote,
  type IssueCommissionQuote,
  type RequestStatus,
} from "@/server/contract/requests";
import { enter } from "./panel/panel";
import { call, unique, world } from "./world";

/** A request as an agent writes it, distinguished from other tests' requests by its summary. */
export const needOf = (projectId: string, more: object = {}) => ({
  projectId,
  summary: unique("Read measurements off a drawing"),
  need: "A PDF page goes in; every dimension with its unit comes out.",
  acceptanceCases: [{ input: { page: 1 }, expected: { dimensions: 12 } }],
  ...more,
});

/** Calls the API as an agent with this key, and expects success. */
export async function askApi(
  path: string,
  { key = world.unboundApiKey, body }: { key?: string; body?: unknown } = {},
) {
  const answer = await call(`/v1/capability-requests${path}`, { key, body });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

export const file = async (body: object): Promise<CapabilityRequest> =>
  CapabilityRequest.parse(await askApi("", { body }));
export const submitRequest = async (id: string): Promise<CapabilityRequest> =>
  CapabilityRequest.parse(await askApi(`/${id}/submit`, { body: {} }));
export const readRequest = async (id: string): Promise<CapabilityRequest> =>
  CapabilityRequest.parse(await askApi(`/${id}`));
export const statusOf = async (id: string): Promise<RequestStatus> => (await readRequest(id)).status;

/** A separate browser in which this person is signed in. */
export async function signedIn(
  browser: Browser,
  person: { email: string; password: string },
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ baseURL: world.baseUrl });
  await enter(context, person);
  return { context, page: await context.newPage() };
}

/** Performs an operator action by the call that its button sends. `page` is an operator's. */
export async function operate(page: Page, act: string, input: unknown): Promise<unknown> {
  const answer = await page.request.post(`/api/trpc/operator.${act}`, {
    data: input,
    headers: { origin: world.baseUrl },
  });
  if (!answer.ok()) throw new Error(`${act} answered ${answer.status()}: ${await answer.text()}`);
  return (await answer.json()).result.data;
}

type Price = Partial<IssueCommissionQuote>;

/** Issues a quote for a submitted request: by default 1,250 dollars, in ten business days. */
export async function quoteRequest(
  operator: Page,
  requestId: string,
  price: Price = {},
): Promise<CommissionQuote> {
  await operate(operator, "openForReview", { request_id: requestId });
  const { currentRevisionId } = await readRequest(requestId);
  return CommissionQuote.parse(
    await operate(operator, "issueQuote", {
      requestId,
      revisionId: currentRevisionId,
      priceMicros: 1_250_000_000,
      currency: "USD",
      runtimePricing: { mode: "metered", billingCurrency: "USD", display: "about $0.02 a page" },
      targetBusinessDays: 10,
      note: "We start with the drawings you sent.",
      ...price,
    }),
  );
}

/** A request with a quote that can be paid. */
export async function quoted(operator: Page, projectId: string, more: object = {}) {
  const { id, revision } = await file(needOf(projectId, more));
  await submitRequest(id);
  const quote = await quoteRequest(operator, id);
  return {
    requestId: id,
    summary: String(revision.content.summary),
    quote,
    path: `/approve/capability-quotes/${quote.quoteId}`,
  };
}
