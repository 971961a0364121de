"use client";
import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { TEST_MONEY } from "@/components/billing/test-money";
import { TabCard } from "@/components/blocks/detail/tab-card";
import { ReadFailure } from "@/components/blocks/list/growing-list";
import { Caller } from "@/components/callers/caller";
import { useTRPC } from "@/components/data/trpc";
import { Moment } from "@/components/time/moment";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, FactGroup, HashFact, UsageFacts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import { Skeleton } from "@/components/ui/skeleton";
import { words } from "@/components/ui/wording";
import { VerifyHere } from "@/components/verify/verify-here";
import type { Job } from "@/server/contract/jobs";
import type { Receipt, ReceiptAdapter } from "@/server/contract/receipts";

/** Members of the receipt that the readable form shows. A receipt lacks members that were added after it was sealed. */
type Readable = Partial<{
  principalId: string | null;
  principalKind: string | null;
  executionMode: string | null;
  dataClassification: string | null;
  retentionRequirement: string | null;
  inputHash: string | null;
  outputHash: string | null;
  receiptHash: string | null;
  route: { provider?: string | null; model?: string | null } | null;
  timestamps: { createdAt?: string | null; startedAt?: string | null; completedAt?: string | null } | null;
  provenance: { engine?: string | null; receiptHash?: string | null } | null;
  attempts:
    | {
        number: number;
        providerSubmission: string;
        providerRequestId?: string | null;
        providerModel?: string | null;
        httpStatus?: number | null;
      }[]
    | null;
  providerSubmission: string | null;
  capacityRejections: number | null;
  processingTier: string | null;
  processingFallback: { from: string; reason: string } | null;
  deferredDiscountBps: number | null;
  usage: Record<string, unknown> | null;
  media: { adapters?: ReceiptAdapter[] | null } | null;
  isTest: boolean | null;
}>;

/** The evidence of an execution: the request, what ran, its cost, and the hashes that prove it. */
export function ReceiptCard({ job, receiptId }: { job: Job; receiptId: string }) {
  const trpc = useTRPC();
  const receipt = useQuery(trpc.jobs.receipt.queryOptions({ job_id: job.jobId }, { staleTime: Infinity }));
  return (
    <TabCard
      id="receipt-title"
      icon={<ShieldCheck aria-hidden className="size-4 text-good" />}
      title="Receipt"
      hint={<CopyableId id={receiptId} what="receipt id" short />}
      label="Receipt format"
      isBusy={receipt.isPending}
      views={[
        {
          name: "Readable",
          content: receipt.data ? <ReadableReceipt receipt={receipt.data} /> : <Pending receipt={receipt} />,
        },
        {
          name: "JSON",
          content: receipt.data ? (
            <JsonView value={receipt.data} what="receipt as JSON" />
          ) : (
            <Pending receipt={receipt} />
          ),
        },
      ]}
    />
  );
}

function Pending({ receipt }: { receipt: { error: unknown; refetch: () => void } }) {
  if (receipt.error) return <ReadFailure what="the receipt" error={receipt.error} again={receipt.refetch} />;
  return (
    <div className="grid gap-2">
      {["w-2/3", "w-1/2", "w-3/4", "w-2/5"].map((width) => (
        <Skeleton key={width} className={`h-5 ${width}`} />
      ))}
    </div>
  );
}

/** The source of a receipt's charge, if it was not the balance. */
function chargedFrom(state: Receipt["pricing"]["chargeState"], isTest: boolean | null | undefined): string {
  if (state === "byok") return ", the provider bills you";
  return isTest ? ` of ${TEST_MONEY}` : "";
}

function ReadableReceipt({ receipt }: { receipt: Receipt }) {
  const more: Readable = receipt;
  const pricing = receipt.pricing;
  const hash = more.receiptHash ?? more.provenance?.receiptHash;
  return (
    <div className="space-y-5">
      <VerifyHere what="receipt" document={receipt} canForge />
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
        <UsageFacts usage={more.usage} />
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
        <HashFact name="Receipt hash" hash={hash ?? null} />
        <HashFact name="Signed by" hash={receipt.signature?.keyId ?? null} />
        <HashFact name="Request hash" hash={receipt.requestHash} />
        <HashFact name="Input hash" hash={more.inputHash ?? null} />
        <HashFact name="Output hash" hash={more.outputHash ?? null} />
        {receipt.artifacts.map(
          (artifact) =>
            artifact.sha256 && (
              <Fact key={artifact.artifactId} name={artifact.filename ?? artifact.kind}>
                <CopyableId
                  id={artifact.sha256}
                  what={`hash of ${artifact.filename ?? artifact.kind}`}
                  short
                />
              </Fact>
            ),
        )}
      </FactGroup>
    </div>
  );
}

/** The LoRA weights of an image: the requested name, and the version it resolved to when the job was admitted. */
function AdapterFacts({ adapter }: { adapter: ReceiptAdapter }) {
  const { alias, aliasVersionNumber, aliasVersionId, source, triggerWords } = adapter;
  return (
    <FactGroup title={`Adapter: ${adapter.displayName}`}>
      <Fact name="Alias">
        {alias && `${alias}, version ${aliasVersionNumber}${adapter.byDefault ? ", by default" : ""}`}
      </Fact>
      <Fact name="Strength">{adapter.weight.toLocaleString("en-US")}</Fact>
      <Fact name="Trigger words">{triggerWords.join(", ") || null}</Fact>
      <HashFact name="Adapter" hash={adapter.adapterId} />
      <HashFact name="Alias version" hash={aliasVersionId} />
      <Fact name="Source">
        {[source.provider && `${source.provider}:`, source.ref, source.filePath].filter(Boolean).join(" ")}
      </Fact>
      <HashFact name="Revision" hash={source.revision} />
      <HashFact name="Digest" hash={adapter.sha256} />
    </FactGroup>
  );
}
