"use client";
import { Eye, MessageCircleQuestion, Undo2, XCircle } from "lucide-react";
import { type ReactNode, useState } from "react";
import { formatMoney } from "@/components/billing/format-money";
import { payingPayment } from "@/components/commissions/stage";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { RefundState } from "@/server/contract/billing";
import type { OperatorAct, RequestDossier } from "@/server/contract/dossiers";
import type { RequestStatus } from "@/server/contract/requests";
import { FulfilDialog } from "./fulfil-dialog";
import { leftOf } from "./left-of";
import { MessageDialog } from "./message-dialog";
import { QuoteDialog } from "./quote-dialog";
import { Refusal } from "./refusal";
import { RetryRefund } from "./retry-refund";
import { useActEnds } from "./use-act";

const STANDS: Record<RequestStatus, string> = {
  draft: "The customer is writing. Nothing is asked of you until they submit it.",
  submitted: "Waits for review. Open it, so that the customer sees that somebody reads it.",
  in_review: "In review. Answer it: with a quote, a question, or a reason why not.",
  needs_information: "The customer was asked. They reword the request and submit it again.",
  quoted: "The customer has a quote. A person of their organization can pay it.",
  declined: "Declined. Nothing more can be done with it.",
  paid: "Paid. Build it, then record the capability that shipped.",
  fulfilled: "Shipped.",
  refunded: "Refunded. Nothing more can be done with it.",
};

const RETURNING: Record<RefundState, string> = {
  pending: "The commission goes back: the payment provider is being asked.",
  done: "The commission goes back: the payment provider has taken the refund, and the money is on its way.",
  failed: "The commission was to go back.",
};

const paymentsOf = ({ quotes }: RequestDossier) => quotes.flatMap(({ payments }) => payments);

/** How the refund of what paid a request stands; null: it was not asked for. */
export const refundOfDossier = (dossier: RequestDossier): RefundState | null =>
  payingPayment(paymentsOf(dossier))?.refund?.state ?? null;

/** Where a request stands and what can be done with it now: nothing else is offered. */
export function Acts({ dossier }: { dossier: RequestDossier }) {
  const [outdated, setOutdated] = useState<string | null>(null);
  const props = { dossier, onOutdated: setOutdated };
  const { acts, request } = dossier;
  const isExpired = request.status === "quoted" && acts.includes("quote");
  const refund = request.status === "refunded" ? null : refundOfDossier(dossier);
  const failed = paymentsOf(dossier).filter((payment) => payment.refund?.state === "failed");
  return (
    <Card aria-labelledby="acts-title">
      <CardHeader title="What to do" id="acts-title" />
      <CardBody className="space-y-3">
        {outdated && (
          <Notice tone="warn" role="alert" title="The request has changed">
            {outdated} Nothing was done. This page shows it as it is now.
          </Notice>
        )}
        {failed.length > 0 && (
          <Notice tone="bad" title="A refund has failed">
            The customer waits for their money: ask for it again, or settle it at the payment provider.
          </Notice>
        )}
        {failed.map(
          (payment) =>
            payment.refundId && (
              <RetryRefund key={payment.paymentId} payment={payment} refundId={payment.refundId} />
            ),
        )}
        <p className="text-sm text-muted">
          {refund
            ? RETURNING[refund]
            : isExpired
              ? "The quote has expired unpaid. You can issue a new one."
              : STANDS[request.status]}
          {request.status === "fulfilled" && dossier.acceptedUntil && !refund && (
            <>
              {" "}
              {acts.includes("refund") ? "It can be refunded until" : "It could be refunded until"}{" "}
              <Moment at={dossier.acceptedUntil} />.
            </>
          )}
        </p>
        {acts.length > 0 && (
          <div className="flex flex-wrap gap-2">
            {acts.map((act) => (
              <ActButton key={act} act={act} isFirst={failed.length === 0} {...props} />
            ))}
          </div>
        )}
      </CardBody>
    </Card>
  );
}

export type ActProps = { dossier: RequestDossier; onOutdated: (why: string | null) => void };

/** `isFirst`: nothing else is more urgent. */
function ActButton({ act, isFirst, ...props }: ActProps & { act: OperatorAct; isFirst: boolean }): ReactNode {
  switch (act) {
    case "review":
      return <OpenForReview {...props} />;
    case "ask":
      return <AskForInformation {...props} />;
    case "decline":
      return <Decline {...props} />;
    case "quote":
      return <QuoteDialog {...props} />;
    case "fulfil":
      return <FulfilDialog isFirst={isFirst} {...props} />;
    case "refund":
      return <Refund {...props} />;
  }
}

function OpenForReview({ dossier, onOutdated }: ActProps) {
  const trpc = useTRPC();
  const ends = useActEnds({ done: "Opened for review", onOutdated });
  const open = useMutation(trpc.operator.openForReview.mutationOptions(ends));
  return (
    <>
      <Refusal error={open.error} />
      <Button
        variant="primary"
        pending={open.isPending}
        onClick={() => open.mutate({ request_id: dossier.request.id })}
      >
        <Eye aria-hidden />
        Open for review
      </Button>
    </>
  );
}

function AskForInformation({ dossier, onOutdated }: ActProps) {
  const trpc = useTRPC();
  const [isOpen, setOpen] = useState(false);
  const ends = useActEnds({ done: "The customer was asked", onEnd: () => setOpen(false), onOutdated });
  const ask = useMutation(trpc.operator.askForInformation.mutationOptions(ends));
  return (
    <MessageDialog
      title="Ask for information"
      description="The customer gets your question. They answer by rewording the request and submitting it again."
      label="What do you need to know?"
      action="Send question"
      actionVariant="primary"
      isOpen={isOpen}
      onOpenChange={setOpen}
      isPending={ask.isPending}
      error={ask.error}
      onSend={(message) => ask.mutate({ requestId: dossier.request.id, message })}
    >
      <Button>
        <MessageCircleQuestion aria-hidden />
        Ask for information
      </Button>
    </MessageDialog>
  );
}

function Decline({ dossier, onOutdated }: ActProps) {
  const trpc = useTRPC();
  const [isOpen, setOpen] = useState(false);
  const ends = useActEnds({ done: "The request is declined", onEnd: () => setOpen(false), onOutdated });
  const decline = useMutation(trpc.operator.decline.mutationOptions(ends));
  return (
    <MessageDialog
      title="Decline this request?"
      description="The customer gets your reason. This cannot be undone: they would have to file a new request."
      label="Why is it declined?"
      action="Decline request"
      actionVariant="danger"
      isOpen={isOpen}
      onOpenChange={setOpen}
      isPending={decline.isPending}
      error={decline.error}
      onSend={(message) => decline.mutate({ requestId: dossier.request.id, message })}
    >
      <Button>
        <XCircle aria-hidden />
        Decline
      </Button>
    </MessageDialog>
  );
}

function Refund({ dossier, onOutdated }: ActProps) {
  const trpc = useTRPC();
  const [isOpen, setOpen] = useState(false);
  const ends = useActEnds({ done: "The refund is asked for", onEnd: () => setOpen(false), onOutdated });
  const refund = useMutation(trpc.operator.refund.mutationOptions(ends));
  const payment = payingPayment(paymentsOf(dossier));
  if (!payment) return null;
  const { tax } = payment;
  const whole = leftOf(payment);
  return (
    <MessageDialog
      title={`Refund ${whole}?`}
      description={`The customer gets back ${whole}, all that is left of what they paid${tax.amountMicros > 0 ? `, with ${formatMoney(tax)} of tax` : ""}. This cannot be undone, and the request ends as refunded once the money is back.`}
      label="Why is it refunded? The customer reads this."
      action={`Refund ${whole}`}
      actionVariant="danger"
      isOpen={isOpen}
      onOpenChange={setOpen}
      isPending={refund.isPending}
      error={refund.error}
      onSend={(reason) => refund.mutate({ requestId: dossier.request.id, reason })}
    >
      <Button>
        <Undo2 aria-hidden />
        Refund
      </Button>
    </MessageDialog>
  );
}
