import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { TRPCProvider } from "@/components/data/trpc";
import type { Commission } from "@/server/contract/commissions";
import type { AppRouter } from "@/server/trpc";
import { commissionOf, NOW, paymentOf, refundOf } from "./commission.fixture";
import { NextSteps } from "./next-steps";
import { Offer } from "./offer";
import { Pay } from "./pay";
import { type CheckoutReturn, commissionStage } from "./stage";
import { StageNotice } from "./stage-notice";

const now = Date.parse(NOW);

/** The rendered HTML of a component. No server is called. */
function shown(piece: ReactNode): string {
  const queryClient = new QueryClient();
  const trpcClient = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:1" })] });
  const html = renderToStaticMarkup(
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {piece}
      </TRPCProvider>
    </QueryClientProvider>,
  );
  return html;
}
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

const notice = (commission: Commission, returned: CheckoutReturn = {}) =>
  textOf(
    shown(
      <StageNotice
        commission={commission}
        returned={returned}
        stage={commissionStage(commission, returned, now)}
      />,
    ),
  );

test("the offer shows content, buyer, price, expiry and guarantee", () => {
  const commission = commissionOf();
  const html = shown(<Offer commission={commission} stage={{ kind: "payable" }} nowMs={now} />);
  const text = textOf(html);
  for (const words of [
    "Read measurements off a drawing",
    "1 acceptance case",
    "$1,500.00",
    "before tax",
    "Calculated at checkout",
    "about $0.02 a page",
    "Atelier, project Drawings",
    "About 10 business days",
    "within 7 days after delivery",
    "in 4 days",
    "We start with the drawings you sent.",
  ])
    expect(text).toContain(words);
  // The countdown must not be announced to screen readers.
  expect(html).toContain('role="timer" aria-live="off"');
});

test("a quote that cannot be paid has no countdown", () => {
  const html = shown(<Offer commission={commissionOf()} stage={{ kind: "expired" }} nowMs={now} />);
  expect(html).not.toContain('role="timer"');
});

test("a long need is folded without losing text", () => {
  const commission = commissionOf();
  const need = Array.from({ length: 600 }, (_, n) => `word${n}`).join(" ");
  commission.revision.content = { ...commission.revision.content, need };
  const text = textOf(shown(<Offer commission={commission} stage={{ kind: "payable" }} nowMs={now} />));
  expect(text).toContain("characters)");
  for (const word of ["word0 ", "word300 ", "word599"]) expect(text).toContain(word);
});

test("the next steps are numbered and name the days", () => {
  const html = shown(<NextSteps commission={commissionOf()} />);
  expect(html).toContain("<ol");
  expect(textOf(html)).toContain("in about 10 business days");
  expect(textOf(html)).toContain("For 7 days");
});

test("a member sees one button with the price; a viewer sees who can pay; without payments there is no button", () => {
  expect(textOf(shown(<Pay commission={commissionOf()} />))).toContain("Approve and pay $1,500.00");
  const viewer = shown(<Pay commission={commissionOf({ mayPay: false })} />);
  expect(textOf(viewer)).toContain("Members, admins and owners can");
  expect(viewer).not.toContain("<button");
  const closed = shown(<Pay commission={commissionOf({ checkout: null })} />);
  expect(textOf(closed)).toContain("Payments are not set up");
  expect(closed).not.toContain("<button");
  const operator = textOf(shown(<Pay commission={commissionOf({ isMember: false })} />));
  expect(operator).toContain("as an operator of this installation");
  const joined = textOf(shown(<Pay commission={commissionOf({ payments: [paymentOf()] })} />));
  expect(joined).toContain("ada@example.com already started a checkout. You will join it");
});

test("each stage has its own notice", () => {
  const paid = paymentOf({ state: "paid", paidAt: NOW });
  const mine = { payment: "pmt_1", result: "success" } as const;
  const canceled = { payment: "pmt_1", result: "canceled" } as const;
  expect(notice(commissionOf())).toBe("");
  expect(notice(commissionOf({ payments: [paymentOf()] }), mine)).toContain("being confirmed");
  expect(notice(commissionOf({ payments: [paymentOf()] }), canceled)).toContain("Nothing was charged");
  expect(notice(commissionOf({ payments: [paymentOf({ state: "failed" })] }), mine)).toContain(
    "Payment failed",
  );
  expect(notice(commissionOf({ payments: [paymentOf({ state: "processing" })] }))).toContain(
    "ada@example.com has paid $1,500.00",
  );
  expect(notice(commissionOf({ status: "expired" }))).toContain("can no longer be paid");
  expect(notice(commissionOf({ status: "superseded", request: { quoteId: "cq_2" } }))).toContain(
    "Open the newer quote",
  );
  expect(notice(commissionOf({ status: "superseded", request: { quoteId: null } }))).toContain("revised");
  const done = { status: "paid", request: { status: "paid" }, payments: [paid] } as const;
  const begun = commissionOf({ ...done, payments: [paid] });
  expect(notice(begun, mine)).toContain("Paid: the work has begun");
  expect(notice(begun)).toContain("Already paid: the work has begun");
  expect(notice(begun)).toContain("ada@example.com paid $1,500.00 on");
  expect(notice(begun)).toContain("about 10 business days after that");
  begun.quote.delivery = { ...begun.quote.delivery, targetBusinessDays: 1 };
  expect(notice(begun)).toContain("about 1 business day after that");
  const shipped = commissionOf({
    status: "paid",
    request: { status: "fulfilled", capabilityKey: "drawing.measure.v1", fulfilledAt: NOW },
    payments: [paid],
  });
  expect(notice(shipped)).toContain("drawing.measure.v1");
  const refund = paymentOf({ state: "paid", paidAt: NOW, refund: refundOf("operator", "done") });
  const refunded = commissionOf({
    status: "paid",
    request: {
      status: "refunded",
      feedback: { kind: "refunded", message: "It could not be built.", at: NOW },
    },
    payments: [refund],
  });
  expect(notice(refunded)).toContain("Refunded by the operator");
  expect(notice(refunded)).toContain("It could not be built.");
});

test.each([
  ["expired", "after the quote had expired"],
  ["superseded", "had been replaced"],
  ["already_paid", "already paid"],
] as const)("a payment that is refunded automatically because it is %s says why", (reason, words) => {
  const tax = { ...paymentOf().amount, amountMicros: 150_000_000 };
  const payment = paymentOf({ state: "paid", paidAt: NOW, tax, refund: refundOf(reason) });
  const text = notice(commissionOf({ status: "expired", payments: [payment] }));
  expect(text).toContain(words);
  expect(text).toContain("A payment of $1,650.00 is being refunded");
  const done = paymentOf({ state: "paid", paidAt: NOW, tax, refund: refundOf(reason, "done") });
  expect(notice(commissionOf({ status: "expired", payments: [done] }))).toContain("was refunded");
});
