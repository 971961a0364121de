"use client";
import { Eye, type LucideIcon, MessageCircleQuestion, RotateCcw, Undo2, XCircle } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { LinesField } from "@/components/blocks/form/fields";
import { FormDialog, type FormDialogProps } from "@/components/blocks/form/form-dialog";
import { formatMoney } from "@/components/blocks/money/money";
import { payingPayment } from "@/components/commissions/stage";
import { useTRPC } from "@/components/data/trpc";
import { Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { toast } from "@/components/ui/toaster";
import type { RefundState } from "@/server/contract/billing";
import type { CommissionPayment } from "@/server/contract/commissions";
import type { DossierPayment, OperatorAct, RequestDossier } from "@/server/contract/dossiers";
import type { RequestStatus } from "@/server/contract/requests";
import { FulfilDialog } from "./fulfil-dialog";
import { QuoteDialog } from "./quote-dialog";
import { type ActProps, isOutdated, useActEnds } from "./use-act";

const STATUS_TEXT: Record<RequestStatus, string> = {
  draft: "The customer is still writing. There is nothing to do until they submit the request.",
  submitted: "Waiting for review. Open it so that the customer sees it is being reviewed.",
  in_review: "In review. Issue a quote, ask for information, or decline.",
  needs_information: "Waiting for the customer to revise the request and submit it again.",
  quoted: "The customer has a quote. A member of their organization can pay it.",
  declined: "Declined. No further action is possible.",
  paid: "Paid. Build the capability, then record what shipped.",
  fulfilled: "Shipped.",
  refunded: "Refunded. No further action is possible.",
};

const RETURNING: Record<RefundState, string> = {
  pending: "Refund in progress: waiting for the payment provider to accept it.",
  done: "Refund in progress: the payment provider accepted it, and the money is on its way.",
  failed: "A refund was requested.",
};

const paymentsOf = ({ quotes }: RequestDossier) => quotes.flatMap(({ payments }) => payments);

/** The state of a request's refund; null if none was requested. */
export const refundOfDossier = (dossier: RequestDossier): RefundState | null =>
  payingPayment(paymentsOf(dossier))?.refund?.state ?? null;

/** A request's state and the actions that are possible now. */
export function Acts({ dossier }: { dossier: RequestDossier }) {
  const [outdated, setOutdated] = useState<string | null>(null);
  const props = { dossier, onOutdated: setOutdated };
  const { acts, request } = dossier;
  const isExpired = request.status === "quoted" && acts.includes("quote");
  const refund = request.status === "refunded" ? null : refundOfDossier(dossier);
  const failed = paymentsOf(dossier).filter((payment) => payment.refund?.state === "failed");
  return (
    <Section title="Actions" bodyClassName="space-y-3">
      {outdated && (
        <Notice tone="warn" role="alert" title="The request has changed">
          {outdated} Nothing was done. This page now shows the current request.
        </Notice>
      )}
      {failed.length > 0 && (
        <Notice tone="bad" title="Refund failed">
          The customer is still waiting for their money. Retry the refund, or refund them at the payment
          provider.
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
            ? "The quote expired unpaid. You can issue a new one."
            : STATUS_TEXT[request.status]}
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
    </Section>
  );
}

/** A button of an action. `isFirst` marks the most urgent one. */
function ActButton({ act, isFirst, ...props }: ActProps & { act: OperatorAct; isFirst: boolean }): ReactNode {
  switch (act) {
    case "review":
      return <OpenForReview {...props} />;
    case "ask":
    case "decline":
      return <Message act={act} {...props} />;
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
  const open = useAction(trpc.operator.openForReview.mutationOptions(ends), {});
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

const MESSAGES = {
  ask: {
    done: "Question sent",
    icon: MessageCircleQuestion,
    button: "Ask for information",
    title: "Ask for information",
    description:
      "The customer receives your question. They answer by revising the request and submitting it again.",
    label: "Question",
    submit: "Send question",
  },
  decline: {
    done: "Request declined",
    icon: XCircle,
    button: "Decline",
    title: "Decline this request?",
    description:
      "The customer receives your reason. This cannot be undone; they would have to file a new request.",
    label: "Reason",
    submit: "Decline request",
    tone: "danger",
  },
} as const;

/** Sends the customer a question, or the reason why the request is declined. */
function Message({ act, dossier, onOutdated }: ActProps & { act: keyof typeof MESSAGES }) {
  const trpc = useTRPC();
  const { done, ...dialog } = MESSAGES[act];
  const ends = useActEnds({ done, onOutdated });
  const ask = useAction(trpc.operator.askForInformation.mutationOptions(ends), {});
  const decline = useAction(trpc.operator.decline.mutationOptions(ends), {});
  const action = act === "ask" ? ask : decline;
  return (
    <MessageDialog
      {...dialog}
      action={action}
      onSend={(message) => action.mutate({ requestId: dossier.request.id, message })}
    />
  );
}

function Refund({ dossier, onOutdated }: ActProps) {
  const trpc = useTRPC();
  const ends = useActEnds({ done: "Refund requested", onOutdated });
  const refund = useAction(trpc.operator.refund.mutationOptions(ends), {});
  const payment = payingPayment(paymentsOf(dossier));
  if (!payment) return null;
  const { tax } = payment;
  const whole = leftOf(payment);
  return (
    <MessageDialog
      icon={Undo2}
      button="Refund"
      title={`Refund ${whole}?`}
      description={`The customer gets back ${whole}, the full remaining amount${tax.amountMicros > 0 ? `, plus ${formatMoney(tax)} tax` : ""}. This cannot be undone. The request becomes refunded once the money is returned.`}
      label="Reason (shown to the customer)"
      submit={`Refund ${whole}`}
      tone="danger"
      action={refund}
      onSend={(reason) => refund.mutate({ requestId: dossier.request.id, reason })}
    />
  );
}

const MOST_CHARACTERS = 4_000;

/** A button that asks for a message to the customer and performs the action. */
function MessageDialog({
  icon: Icon,
  button,
  label,
  onSend,
  ...dialog
}: {
  icon: LucideIcon;
  /** The label of the button that opens it. */
  button: string;
  description: ReactNode;
  /** The label of the text field. */
  label: string;
  onSend: (message: string) => void;
} & Pick<FormDialogProps, "title" | "submit" | "tone" | "action">) {
  return (
    <FormDialog
      {...dialog}
      hasEnded={isOutdated(dialog.action.error)}
      trigger={
        <Button>
          <Icon aria-hidden />
          {button}
        </Button>
      }
      send={(sent) => {
        const message = sent.text("message");
        if (message) onSend(message);
      }}
    >
      <LinesField name="message" label={label} required maxLength={MOST_CHARACTERS} rows={5} />
    </FormDialog>
  );
}

/** Retries a failed refund at the payment provider. */
function RetryRefund({ payment, refundId }: { payment: DossierPayment; refundId: string }) {
  const trpc = useTRPC();
  const retry = useAction(trpc.operator.retryRefund.mutationOptions(), {
    onDone({ state }) {
      if (state === "failed") toast.error("Refund failed again");
      else toast.success("Refund requested");
    },
    refresh: [trpc.operator.pathKey()],
  });
  return (
    <ConfirmAction
      icon={RotateCcw}
      label="Retry refund"
      title="Retry this refund?"
      description={`The payment provider is asked again to refund ${leftOf(payment)}. A completed refund cannot be undone.`}
      action="Retry refund"
      onConfirm={() => retry.mutate({ paymentId: payment.paymentId, refundId })}
      variant="primary"
      pending={retry.isPending}
    />
  );
}

/** A payment's amount that is not refunded yet, formatted. */
function leftOf({ amount, tax, refunded }: CommissionPayment): string {
  const amountMicros = amount.amountMicros + tax.amountMicros - refunded.amountMicros;
  return formatMoney({ amountMicros, currency: amount.currency });
}
