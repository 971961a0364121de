"use client";
import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { z } from "zod";
import { TEST_MONEY } from "@/components/billing/test-money";
import { Caller } from "@/components/callers/caller";
import { Moment } from "@/components/time/moment";
import { toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, FactGroup } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { spaced, words } from "@/components/ui/wording";
import { VerifyHere } from "@/components/verify/verify-here";
import type { Job } from "@/server/contract/jobs";
import { type Receipt, ReceiptAdapter } from "@/server/contract/receipts";
import { verifyDocument } from "@/server/verify";
import { AdapterFacts } from "./adapter-facts";

/** The receipt fields that the readable form shows. Fields that an older receipt lacks are not shown. */
const Readable = z.looseObject({
  principalId: z.string().nullish(),
  principalKind: z.string().nullish(),
  executionMode: z.string().nullish(),
  dataClassification: z.string().nullish(),
  retentionRequirement: z.string().nullish(),
  inputHash: z.string().nullish(),
  outputHash: z.string().nullish(),
  receiptHash: z.string().nullish(),
  route: z.looseObject({ provider: z.string().nullish(), model: z.string().nullish() }).nullish(),
  timestamps: z
    .looseObject({
      createdAt: z.string().nullish(),
      startedAt: z.string().nullish(),
      completedAt: z.string().nullish(),
    })
    .nullish(),
  provenance: z
    .looseObject({
      engine: z.string().nullish(),
      deterministic: z.boolean().nullish(),
      receiptHash: z.string().nullish(),
    })
    .nullish(),
  attempts: z
    .array(
      z.looseObject({
        number: z.number(),
        providerSubmission: z.string(),
        providerRequestId: z.string().nullish(),
        providerModel: z.string().nullish(),
        httpStatus: z.number().nullish(),
      }),
    )
    .nullish(),
  providerSubmission: z.string().nullish(),
  capacityRejections: z.number().nullish(),
  processingTier: z.string().nullish(),
  processingFallback: z.object({ from: z.string(), reason: z.string() }).nullish(),
  deferredDiscountBps: z.number().nullish(),
  usage: z.record(z.string(), z.json()).nullish(),
  media: z.looseObject({ adapters: z.array(ReceiptAdapter).nullish() }).nullish(),
  isTest: z.boolean().nullish(),
});

/** The evidence of an execution: the request, what ran, its cost, and the hashes that prove it. */
export function ReceiptCard({ job }: { job: Job }) {
  const trpc = useTRPC();
  const receipt = useQuery(
    trpc.jobs.receipt.queryOptions(
      { job_id: job.jobId },
      { enabled: job.receiptId !== null, staleTime: Infinity },
    ),
  );
  if (job.receiptId === null) return null;
  return (
    <Tabs defaultValue="readable">
      <Card aria-labelledby="receipt-title" aria-busy={receipt.isPending}>
        <CardHeader
          title={
            <span className="inline-flex items-center gap-1.5">
              <ShieldCheck aria-hidden className="size-4 text-good" />
              Receipt
            </span>
          }
          id="receipt-title"
          hint={<CopyableId id={job.receiptId} what="receipt id" short />}
          actions={
            <TabsList aria-label="Receipt format">
              <TabsTrigger value="readable">Readable</TabsTrigger>
              <TabsTrigger value="json">JSON</TabsTrigger>
            </TabsList>
          }
        />
        <CardBody>
          <TabsContent value="readable">
            {receipt.data ? <ReadableReceipt receipt={receipt.data} /> : <Pending receipt={receipt} />}
          </TabsContent>
          <TabsContent value="json">
            {receipt.data ? (
              <JsonView value={receipt.data} what="receipt as JSON" />
            ) : (
              <Pending receipt={receipt} />
            )}
          </TabsContent>
        </CardBody>
      </Card>
    </Tabs>
  );
}

function Pending({ receipt }: { receipt: { error: unknown; refetch: () => void } }) {
  if (receipt.error) {
    return (
      <Notice tone="bad" title="Could not load the receipt">
        <p>{toFailure(receipt.error).message}</p>
        <Button size="sm" className="mt-2" onClick={() => receipt.refetch()}>
          Try again
        </Button>
      </Notice>
    );
  }
  return (
    <div className="grid gap-2">
      {["w-2/3", "w-1/2", "w-3/4", "w-2/5"].map((width) => (
        <Skeleton key={width} className={`h-5 ${width}`} />
      ))}
    </div>
  );
}

/** What a receipt's charge was taken from, where it was not the balance. */
function chargedFrom(state: Receipt["pricing"]["chargeState"], isTest: boolean | null | undefined): string {
  if (state === "byok") return ", the provider bills you";
  return isTest ? ` of ${TEST_MONEY}` : "";
}

function ReadableReceipt({ receipt }: { receipt: Receipt }) {
  const parsed = Readable.safeParse(receipt);
  if (!parsed.success) return <JsonView value={receipt} what="receipt" />;
  const more = parsed.data;
  const pricing = receipt.pricing;
  const hash = more.receiptHash ?? more.provenance?.receiptHash;
  return (
    <div className="space-y-5">
      <FactGroup title="Request">
        <Fact name="Sent by">
          {more.principalId && (
            <Caller projectId={receipt.projectId} id={more.principalId} kind={more.principalKind} />
          )}
        </Fact>
        <Fact name="Capability">{receipt.capabilityKey}</Fact>
        <Fact name="Mode">{words(more.executionMode)}</Fact>
        <Fact name="Environment">{receipt.environment}</Fact>
        <Fact name="Data">
          {[more.dataClassification, more.retentionRequirement].filter(Boolean).join(", ") || null}
        </Fact>
      </FactGroup>
      <FactGroup title="Execution">
        <Fact name="Provider">{more.route?.provider ?? more.provenance?.engine}</Fact>
        <Fact name="Model">{more.route?.model}</Fact>
        <Fact name="Submission">{words(more.providerSubmission)}</Fact>
        <Fact name="Tier">
          {[
            more.processingTier,
            more.deferredDiscountBps ? `${more.deferredDiscountBps / 100}% off the token rates` : null,
            more.processingFallback &&
              `${more.processingFallback.from} ${words(more.processingFallback.reason)}`,
          ]
            .filter(Boolean)
            .join(" · ") || null}
        </Fact>
        <Fact name="Capacity rejections">{more.capacityRejections || null}</Fact>
        {more.attempts?.map((attempt) => (
          <Fact key={attempt.number} name={`Attempt ${attempt.number}`}>
            {[
              words(attempt.providerSubmission),
              attempt.providerModel,
              attempt.httpStatus && `HTTP ${attempt.httpStatus}`,
              attempt.providerRequestId,
            ]
              .filter(Boolean)
              .join(" · ")}
          </Fact>
        ))}
        {Object.entries(more.usage ?? {}).map(([name, value]) => (
          <Fact key={name} name={spaced(name)}>
            {value === null
              ? null
              : typeof value === "number"
                ? value.toLocaleString("en-US")
                : JSON.stringify(value)}
          </Fact>
        ))}
      </FactGroup>
      {more.media?.adapters?.map((adapter) => (
        <AdapterFacts key={adapter.adapterId} adapter={adapter} />
      ))}
      <FactGroup title="Cost">
        <Fact name="Estimated charge">
          {pricing?.estimatedCharge?.display ?? pricing?.quote?.customerTotal?.display}
        </Fact>
        <Fact name="Maximum charge">
          {pricing?.maximumAuthorizedCharge?.display ?? pricing?.quote?.maximumCustomerTotal?.display}
        </Fact>
        <Fact name="Provider cost">
          {pricing?.providerCost &&
            (pricing.providerCost.amount
              ? `${pricing.providerCost.amount.display}, ${pricing.providerCost.status}`
              : "Unknown")}
        </Fact>
        <Fact name="Charged">
          {pricing?.charge &&
            `${pricing.charge.customerCharge.display}${chargedFrom(pricing.chargeState, more.isTest)}`}
        </Fact>
        <Fact name="Billing">{pricing?.mode}</Fact>
        <Fact name="Funding">{words(pricing?.fundingSource)}</Fact>
        <Fact name="Pricing version">{pricing?.pricingVersion}</Fact>
      </FactGroup>
      <FactGroup title="Timing">
        <Fact name="Created">{more.timestamps?.createdAt && <Moment at={more.timestamps.createdAt} />}</Fact>
        <Fact name="Started">{more.timestamps?.startedAt && <Moment at={more.timestamps.startedAt} />}</Fact>
        <Fact name="Completed">
          {more.timestamps?.completedAt && <Moment at={more.timestamps.completedAt} />}
        </Fact>
      </FactGroup>
      <FactGroup title="Proof" wide>
        <Fact name="Receipt hash">{hash && <CopyableId id={hash} what="receipt hash" />}</Fact>
        <Fact name="Signed by">
          {receipt.signature && <CopyableId id={receipt.signature.keyId} what="signing key id" />}
        </Fact>
        <Fact name="Request hash">
          <CopyableId id={receipt.requestHash} what="request hash" />
        </Fact>
        <Fact name="Input hash">
          {more.inputHash && <CopyableId id={more.inputHash} what="input hash" />}
        </Fact>
        <Fact name="Output hash">
          {more.outputHash && <CopyableId id={more.outputHash} what="output hash" />}
        </Fact>
        {receipt.artifacts.map(
          (artifact) =>
            artifact.sha256 && (
              <Fact key={artifact.artifactId} name={artifact.filename ?? artifact.kind}>
                <CopyableId id={artifact.sha256} what={`hash of ${artifact.filename ?? artifact.kind}`} />
              </Fact>
            ),
        )}
      </FactGroup>
      <VerifyHere what="receipt" verify={(keys) => verifyDocument(receipt, keys)} />
    </div>
  );
}
