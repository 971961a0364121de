"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { CircleCheck, OctagonX, ShieldCheck } from "lucide-react";
import { Waterfall } from "@/components/blocks/chart/waterfall";
import { Failure } from "@/components/blocks/feedback/failure";
import { Caller } from "@/components/callers/caller";
import { useTRPC, useTRPCClient } from "@/components/data/trpc";
import { Metadata, Tags } from "@/components/jobs/caller-facts";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Moment } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Card, CardBody, Section } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { CopyableId } from "@/components/ui/copyable-id";
import { DownloadJson } from "@/components/ui/download";
import { Fact, FactGroup, Facts, HashFact, UsageFacts } from "@/components/ui/facts";
import { Figure, Figures, None } from "@/components/ui/figures";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { VerifyHere } from "@/components/verify/verify-here";
import type { PinnedRecord } from "@/server/contract/pinned-records";
import { bulkHref, pinnedHref } from "./list-state";
import { PinContent } from "./pin-content";
import { PinStatusBadge, SUBMISSION_WORDS } from "./pin-status";
import { pinSpans } from "./spans";
import { costWords, verdictOf } from "./words";

/** One pinned record: the request, timing, response, cost and signature. */
export function PinPage({ receiptId, projectId }: { receiptId: string; projectId: string }) {
  const trpc = useTRPC();
  const { data: record } = useSuspenseQuery(
    trpc.pinned.get.queryOptions({ receipt_id: receiptId }, { staleTime: 60_000 }),
  );
  return (
    <>
      <RecordHeader record={record} projectId={projectId} />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_19rem] xl:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="grid min-w-0 grid-cols-1 gap-5">
          {record.error && <Failure error={record.error} />}
          <Verdict record={record} />
          <TimingCard record={record} />
          <PinContent record={record} />
          <PinProof record={record} />
          <Corrections record={record} />
        </div>
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <CostCard record={record} />
          <Details record={record} projectId={projectId} />
        </div>
      </div>
    </>
  );
}

function RecordHeader({ record, projectId }: { record: PinnedRecord; projectId: string }) {
  const client = useTRPCClient();
  const { receiptId, pin } = record;
  return (
    <PageHeader
      back={{ href: pinnedHref(projectId), label: "Pinned records" }}
      title={pin.model}
      badge={<PinStatusBadge status={record.status} />}
      id={<CopyableId id={receiptId} what="receipt id" className="text-muted" />}
      actions={
        <>
          <DownloadJson
            name={`${receiptId}.json`}
            read={async () => (await client.pinned.content.query({ receipt_id: receiptId })).record}
          >
            Record
          </DownloadJson>
          <DownloadJson
            name={`${receiptId}.lock.json`}
            read={() => client.provenance.lockfile.query({ receipt_id: receiptId })}
          >
            Lockfile
          </DownloadJson>
        </>
      }
      foot={
        <Figures>
          <Figure name="Accepted">
            <Moment at={record.createdAt} />
          </Figure>
          <Figure name="Queue wait">
            <Clock ms={record.schedulerWaitMs} />
          </Figure>
          <Figure name="Provider processing">
            <Clock ms={record.providerExecutionMs} />
          </Figure>
          <Figure name="Total">
            <Clock ms={msBetween(record.createdAt, record.completedAt)} />
          </Figure>
          <Figure name="Cost">{costWords(record)}</Figure>
        </Figures>
      }
    >
      {pin.provider} · {pin.api}
    </PageHeader>
  );
}

function Clock({ ms }: { ms: number | null }) {
  return ms === null ? <None /> : formatDuration(ms);
}

/** Shows whether the request is safe to retry, which a reader of a record must never get wrong. */
function Verdict({ record }: { record: PinnedRecord }) {
  const { isSafe, title, why } = verdictOf(record);
  const Icon = isSafe ? CircleCheck : OctagonX;
  const tone = isSafe ? "text-good" : record.status === "succeeded" ? "text-muted" : "text-bad";
  return (
    <Card aria-labelledby="verdict-title" className={cn(isSafe ? "border-good-line" : "border-line-strong")}>
      <CardBody>
        <h2 id="verdict-title" className="flex items-center gap-2 text-sm font-semibold">
          <Icon aria-hidden className={cn("size-4 shrink-0", tone)} />
          {title}
        </h2>
        <p className="mt-1.5 text-sm text-muted">{why}</p>
      </CardBody>
    </Card>
  );
}

function CostCard({ record }: { record: PinnedRecord }) {
  const discount = record.deferredDiscountBps > 0 ? `, ${record.deferredDiscountBps / 100}% off` : "";
  return (
    <Section title="Usage and cost" actions={record.isTest && <Badge>Test</Badge>}>
      <Facts>
        <UsageFacts usage={record.usage} />
        <Fact name="Cost at list price">{costWords(record)}</Fact>
        <Fact name="Tier">{record.processingTier ? `${record.processingTier}${discount}` : null}</Fact>
        <Fact name="You pay">{record.isTest ? "$0.00" : "$0.00, the provider bills you"}</Fact>
        <Fact name="Reservation">{record.holdState}</Fact>
        <Fact name="Pricing version">{record.pricingVersion}</Fact>
      </Facts>
    </Section>
  );
}

function Details({ record, projectId }: { record: PinnedRecord; projectId: string }) {
  return (
    <Section title="Details" id="details-title">
      <Facts>
        <Fact name="Submission">{SUBMISSION_WORDS[record.providerSubmission]}</Fact>
        <Fact name="Processing">{record.processing}</Fact>
        <Fact name="Isolation">{record.isolation}</Fact>
        <Fact name="Responding model">{record.providerModel}</Fact>
        <Fact name="Fingerprint">{record.providerFingerprint}</Fact>
        <HashFact name="Provider request id" hash={record.providerRequestId} />
        <Fact name="Bulk">
          {record.bulkId && (
            <Link
              href={bulkHref(projectId, record.bulkId)}
              className="font-mono text-xs text-link hover:underline"
            >
              {record.bulkId}
            </Link>
          )}
        </Fact>
        <Fact name="Item">{record.itemId}</Fact>
        <Fact name="Environment">{record.environment}</Fact>
        <Fact name="Sent by">
          <Caller projectId={projectId} id={record.principalId} kind={record.principalKind} />
        </Fact>
        <Fact name="Data">
          {[record.dataClassification, record.retentionRequirement].filter(Boolean).join(", ") || null}
        </Fact>
        <Fact name="External reference">{record.externalRef}</Fact>
        <Fact name="Correlation id">{record.correlationId}</Fact>
        <Fact name="Tags">{record.tags.length === 0 ? null : <Tags tags={record.tags} />}</Fact>
      </Facts>
      <Metadata metadata={record.metadata} />
    </Section>
  );
}

const CORRECTION: Record<PinnedRecord["corrections"][number]["kind"], string> = {
  late_answer: "The provider’s response arrived after the record was sealed",
  charge_resolved: "A person set the charge",
};

/** Facts that became known after the record was sealed. They do not change the sealed record. */
function Corrections({ record }: { record: PinnedRecord }) {
  if (record.corrections.length === 0) return null;
  return (
    <Section title="Corrections" hint="Added later. The sealed record is unchanged." isFlush>
      <ul className="divide-y divide-line">
        {record.corrections.map(({ correctionId, kind, details, createdAt }) => (
          <li key={correctionId} className="space-y-2 px-4 py-3 text-sm">
            <div className="flex flex-wrap justify-between gap-x-4">
              <span className="font-medium">{CORRECTION[kind]}</span>
              <span className="text-xs text-muted">
                <Moment at={createdAt} />
              </span>
            </div>
            <JsonView value={details} what="correction details" className="max-h-56" />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** A record's hashes and signature, with verification of both in the browser. */
function PinProof({ record }: { record: PinnedRecord }) {
  return (
    <Section
      icon={<ShieldCheck aria-hidden className="size-4 text-good" />}
      title="Proof"
      hint={<CopyableId id={record.receiptId} what="receipt id of the proof" short />}
      bodyClassName="space-y-5"
    >
      <VerifyHere what="record" document={record} canForge />
      <FactGroup title="Signature" wide>
        <HashFact name="Record hash" hash={record.recordHash} />
        <HashFact name="Signed by" hash={record.signature.keyId} />
        <HashFact name="Signature" hash={record.signature.value} />
      </FactGroup>
      <FactGroup title="Sealed hashes" wide>
        <HashFact name="Request" hash={record.requestHash} />
        <HashFact name="Bytes sent" hash={record.sentHash} />
        <HashFact name="Instructions" hash={record.instructionsHash} />
        <HashFact name="Input" hash={record.inputHash} />
        <HashFact name="Tools" hash={record.toolsHash} />
        <HashFact name="Response format" hash={record.responseFormatHash} />
        <HashFact name="Output" hash={record.outputHash} />
        <HashFact name="Native response" hash={record.nativeResponseHash} />
      </FactGroup>
    </Section>
  );
}

/** A record's timing, with every HTTP submission, as bars on one time axis. */
function TimingCard({ record }: { record: PinnedRecord }) {
  return (
    <Section
      title="Timing"
      id="timing-title"
      hint={`${count(record.providerSubmissions, "submission")}, ${count(record.capacityRejections, "capacity rejection")}`}
    >
      <Waterfall label="Timing" spans={pinSpans(record)} />
    </Section>
  );
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
