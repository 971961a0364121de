"use client";
import { useLive } from "@/components/blocks/data/use-live";
import { callerName } from "@/components/callers/caller-name";
import { EventList } from "@/components/requests/event-list";
import { RequestStatusBadge } from "@/components/requests/request-status";
import { CurrentWording, summaryOf } from "@/components/requests/wording";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts, HashFact } from "@/components/ui/facts";
import type { RequestDossier } from "@/server/contract/dossiers";
import { Acts, refundOfDossier } from "./acts";
import { AuditCard } from "./audit-card";
import { QuoteList } from "./quote-list";
import { CompareCard } from "./revisions/compare-card";

const LOOK_AGAIN_MS = 10_000;
/** While a refund is in progress, which takes a moment. */
const LOOK_SOON_MS = 2_000;

/** One request for an operator: its content, revisions, history and possible actions. */
export function RequestRoom({ requestId }: { requestId: string }) {
  const { data: dossier } = useLive(
    useTRPC().operator.request.queryOptions({ request_id: requestId }),
    (read) => (isReturning(read) ? LOOK_SOON_MS : LOOK_AGAIN_MS),
  );
  const { request, revisions } = dossier;
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-6 outline-none sm:px-6">
      <PageHeader
        back={{ href: "/operator/requests", label: "Capability requests" }}
        title={summaryOf(request.revision.content)}
        badge={<RequestStatusBadge status={request.status} refund={refundOfDossier(dossier)} />}
      >
        {dossier.organizationName}, {dossier.projectName}
      </PageHeader>
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="grid min-w-0 grid-cols-1 gap-5 lg:order-last">
          <Acts dossier={dossier} />
          <QuoteList quotes={dossier.quotes} revisions={revisions} />
          <Details dossier={dossier} />
        </div>
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <CurrentWording revision={request.revision} />
          {revisions.length > 1 && <CompareCard requestId={request.id} revisions={revisions} />}
          <EventList events={dossier.events} />
          <AuditCard requestId={request.id} />
        </div>
      </div>
    </main>
  );
}

function isReturning(dossier: RequestDossier): boolean {
  const refund = refundOfDossier(dossier);
  return dossier.request.status !== "refunded" && (refund === "pending" || refund === "done");
}

function Details({
  dossier: { request, author, organizationName, projectName },
}: {
  dossier: RequestDossier;
}) {
  return (
    <Card aria-labelledby="details-title">
      <CardHeader title="Details" id="details-title" />
      <CardBody>
        <Facts>
          <Fact name="Request">
            <CopyableId id={request.id} what="request id" short />
          </Fact>
          <Fact name="Organization">
            {organizationName} <CopyableId id={request.organizationId} what="organization id" short />
          </Fact>
          <Fact name="Project">
            {projectName} <CopyableId id={request.projectId} what="project id" short />
          </Fact>
          <Fact name="Filed by">{callerName({ id: request.createdBy, name: author })}</Fact>
          <Fact name="Filed">
            <Moment at={request.createdAt} />
          </Fact>
          <Fact name="Submitted">{request.submittedAt && <Moment at={request.submittedAt} />}</Fact>
          <Fact name="Shipped">{request.fulfilledAt && <Moment at={request.fulfilledAt} />}</Fact>
          <Fact name="Capability">{request.capabilityKey && <code>{request.capabilityKey}</code>}</Fact>
          <HashFact name="Hash" hash={request.requestHash} />
        </Facts>
      </CardBody>
    </Card>
  );
}
