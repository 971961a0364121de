"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Pencil, Send } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { LinesField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { Caller } from "@/components/callers/caller";
import { approvalHref } from "@/components/commissions/hrefs";
import { commissionStage, payingPayment } from "@/components/commissions/stage";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts, HashFact } from "@/components/ui/facts";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { CapabilityRequest } from "@/server/contract/requests";
import { readDraft, toDraft } from "./draft";
import { EventList } from "./event-list";
import { explainRefund, explainStatus, type StatusExplanation, TURNS } from "./explain";
import { requestsHref, reviseHref } from "./list-state";
import { QuoteCard } from "./quote-card";
import { RequestStatusBadge } from "./request-status";
import { useSubmit } from "./use-send";
import { CurrentWording, Folded, requestTitle, Wording } from "./wording";

const LOOK_AGAIN_MS = 10_000;
const CLOSED: readonly CapabilityRequest["status"][] = ["declined", "refunded"];
const CAN_BE_REVISED: readonly CapabilityRequest["status"][] = [
  "draft",
  "submitted",
  "in_review",
  "needs_information",
  "quoted",
];

/** One request: its state and whose turn it is, its content, its quote and its history. */
export function RequestPage({ projectId, requestId }: { projectId: string; requestId: string }) {
  const trpc = useTRPC();
  const { data: request } = useLive(
    trpc.requests.get.queryOptions({ request_id: requestId }),
    ({ status }) => (CLOSED.includes(status) ? false : LOOK_AGAIN_MS),
  );
  return (
    <>
      <Header projectId={projectId} request={request} />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_19rem] xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <Feedback request={request} />
          <CurrentWording revision={request.revision} />
          <EarlierRevisions request={request} />
        </div>
        <div className="grid min-w-0 grid-cols-1 gap-5">
          {request.quoteId && <QuoteCard quoteId={request.quoteId} />}
          <RequestThread request={request} />
          <Details request={request} />
        </div>
      </div>
    </>
  );
}

function Header({ projectId, request }: { projectId: string; request: CapabilityRequest }) {
  const mayWrite = useProject(projectId).may("member");
  return (
    <PageHeader
      back={{ href: requestsHref(projectId), label: "Requests" }}
      title={requestTitle(request.revision.content)}
      badge={
        request.quoteId ? (
          <BadgeWithQuote request={request} quoteId={request.quoteId} />
        ) : (
          <RequestStatusBadge status={request.status} refund={null} />
        )
      }
      id={<CopyableId id={request.id} what="request id" className="text-muted" />}
      actions={mayWrite && <Acts projectId={projectId} request={request} />}
      foot={
        request.quoteId ? (
          <ExplainedWithQuote request={request} quoteId={request.quoteId} />
        ) : (
          <Explained {...explainStatus(request, null, 0)} />
        )
      }
    />
  );
}

type WithQuote = { request: CapabilityRequest; quoteId: string };

/** The badge of a request. Its quote shows whether the payment is being refunded. */
function BadgeWithQuote({ request: { status }, quoteId }: WithQuote) {
  const { data } = useSuspenseQuery(useTRPC().requests.commission.queryOptions({ quoteId }));
  return <RequestStatusBadge status={status} refund={payingPayment(data.payments)?.refund?.state ?? null} />;
}

/**
 * The explanation of a request. The server decides whether a quote can be paid or is being refunded, so the quote is fetched.
 */
function ExplainedWithQuote({ request, quoteId }: WithQuote) {
  const { data } = useSuspenseQuery(useTRPC().requests.commission.queryOptions({ quoteId }));
  const { expiresAt, status } = data.quote;
  const nowMs = status === "expired" ? Date.parse(expiresAt) : Date.parse(data.now);
  const stage = commissionStage(data, {}, nowMs);
  if (stage.kind === "refunding") return <Explained {...explainRefund(stage.hasFailed)} />;
  return (
    <Explained {...explainStatus(request, expiresAt, nowMs)}>
      {stage.kind === "payable" && data.mayPay && (
        <Button asChild variant="primary">
          <Link href={approvalHref(quoteId)}>Review and pay</Link>
        </Button>
      )}
    </Explained>
  );
}

function Explained({ text, turn, children }: StatusExplanation & { children?: ReactNode }) {
  return (
    <div className="mt-4 flex flex-wrap items-center gap-x-2.5 gap-y-1 rounded-lg border border-line bg-surface px-4 py-3 text-sm shadow-card">
      <Badge tone={turn === "members" ? "warn" : "neutral"}>{TURNS[turn]}</Badge>
      <p className="min-w-0 flex-1 basis-64">{text}</p>
      {children}
    </div>
  );
}

/** The actions a person of the project can take now. */
function Acts({ projectId, request }: { projectId: string; request: CapabilityRequest }) {
  const submit = useSubmit();
  return (
    <div className="flex flex-wrap gap-2">
      {CAN_BE_REVISED.includes(request.status) && (
        <Button asChild>
          <Link href={reviseHref(projectId, request.id)}>
            <Pencil aria-hidden />
            Revise
          </Link>
        </Button>
      )}
      {request.status === "draft" && (
        <ConfirmAction
          icon={Send}
          label="Submit"
          title="Submit this request?"
          description="An operator reviews this revision. You can still revise it and submit it again. Nothing is charged until a person pays a quote."
          action="Submit request"
          isHarmless
          onConfirm={() => submit.mutate({ request_id: request.id })}
          variant="primary"
          pending={submit.isPending}
        />
      )}
    </div>
  );
}

const EARLIER = "Last message from the operator";
/** Titles for the operator's message by state; `later` is the title once the request has moved on. */
const FEEDBACK = {
  needs_information: { title: "Question from the operator", tone: "warn", later: EARLIER },
  declined: { title: "Reason for declining", tone: "bad", later: EARLIER },
  // Its refund has failed for good, so the request is paid or shipped again.
  refunded: { title: "Reason for the refund", tone: "busy", later: "Reason for the failed refund" },
} as const;

/** The operator's last message, shown on top while it is current. */
function Feedback({ request }: { request: CapabilityRequest }) {
  const { feedback, status } = request;
  const mayWrite = useProject(request.projectId).may("member");
  if (!feedback) return null;
  const { title, tone, later } = FEEDBACK[feedback.kind];
  const isCurrent = feedback.kind === status;
  return (
    <Notice tone={isCurrent ? tone : "busy"} title={isCurrent ? title : later}>
      <p dir="auto" className="whitespace-pre-wrap">
        {feedback.message}
      </p>
      <p className="mt-1.5 text-xs text-muted">
        <Moment at={feedback.at} />
      </p>
      {isCurrent && status === "needs_information" && mayWrite && <Answer request={request} />}
    </Notice>
  );
}

/** Answers the operator's question: it is added to the need, as a revision that is submitted at once. */
function Answer({ request }: { request: CapabilityRequest }) {
  const trpc = useTRPC();
  const submit = useSubmit();
  const revise = useAction(trpc.requests.revise.mutationOptions(), {
    isInPlace: true,
    onDone: () => submit.mutateAsync({ request_id: request.id }),
    refresh: [trpc.requests.pathKey()],
  });
  return (
    <Form
      action={revise}
      send={({ text }) => {
        const draft = toDraft(request.revision.content);
        const { body } = readDraft({ ...draft, need: `${draft.need}\n\n${text("answer")}` });
        if (body) revise.mutate({ request_id: request.id, body });
      }}
      className="mt-3 space-y-3"
    >
      <LinesField name="answer" label="Your answer" required rows={3} maxLength={4_000} />
      <Button type="submit" variant="primary" pending={revise.isPending || submit.isPending}>
        Send answer
      </Button>
    </Form>
  );
}

function Details({ request }: { request: CapabilityRequest }) {
  return (
    <Section title="Details">
      <Facts>
        <HashFact name="Hash" hash={request.requestHash} />
        <Fact name="Filed">
          <Moment at={request.createdAt} />
        </Fact>
        <Fact name="Filed by">
          <Caller projectId={request.projectId} id={request.createdBy} />
        </Fact>
        <Fact name="Submitted">{request.submittedAt && <Moment at={request.submittedAt} />}</Fact>
        <Fact name="Shipped">{request.fulfilledAt && <Moment at={request.fulfilledAt} />}</Fact>
        <Fact name="Capability">
          {request.capabilityKey && (
            <Link
              href={`/projects/${request.projectId}/catalog/${request.capabilityKey}`}
              className="text-link hover:underline"
            >
              {request.capabilityKey}
            </Link>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

/** A request's history, as its organization sees it. */
function RequestThread({ request }: { request: CapabilityRequest }) {
  const trpc = useTRPC();
  const asked = trpc.requests.events.queryOptions({ request_id: request.id });
  const { data: events, refetch } = useSuspenseQuery(asked);
  // Each change of the request is an event, so a newer request means fetching the events again.
  const last = events.at(-1);
  const isBehind = last !== undefined && last.createdAt < request.updatedAt;
  useEffect(() => {
    if (isBehind) refetch();
  }, [isBehind, refetch]);
  return <EventList events={events} />;
}

/** The revisions before the current one, newest first; renders nothing if there are none. */
function EarlierRevisions({ request }: { request: CapabilityRequest }) {
  const { data: revisions } = useSuspenseQuery(
    useTRPC().requests.revisions.queryOptions({ request_id: request.id }),
  );
  const earlier = revisions.filter(({ number }) => number < request.revision.number);
  if (earlier.length === 0) return null;
  return (
    <Section title="Earlier revisions" hint="Read-only" bodyClassName="space-y-2">
      {earlier.map((revision) => (
        <Folded key={revision.id} title={`Revision ${revision.number}: ${requestTitle(revision.content)}`}>
          <div className="space-y-3">
            <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
              <Moment at={revision.createdAt} />
              <CopyableId id={revision.requestHash} what={`hash of revision ${revision.number}`} />
            </p>
            <Wording content={revision.content} />
          </div>
        </Folded>
      ))}
    </Section>
  );
}
