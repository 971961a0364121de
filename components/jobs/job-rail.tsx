"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { useMemo } from "react";
import { TestMoneyBadge } from "@/components/billing/test-money";
import { TabLink } from "@/components/blocks/detail/page-tabs";
import { Rail, RailSection } from "@/components/blocks/detail/rail";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { Fact, Facts } from "@/components/ui/facts";
import Link from "@/components/ui/link";
import { useVerified } from "@/components/verify/verify-here";
import type { Job } from "@/server/contract/jobs";
import type { ExecutionCost } from "@/server/contract/usage";
import { ComparisonLink, isBlind } from "./blind";
import { Tags } from "./caller-facts";

/** The column beside a job: the check of its receipt, its cost, its details. */
export function JobRail({ job }: { job: Job }) {
  return (
    <Rail>
      {!isBlind(job) && (
        <>
          <Seal job={job} />
          <JobCost job={job} />
        </>
      )}
      <JobDetails job={job} />
    </Rail>
  );
}

/** Shows whether the receipt is authentic, which the browser verifies automatically. */
function Seal({ job }: { job: Job }) {
  const trpc = useTRPC();
  const { data: receipt } = useQuery(
    trpc.jobs.receipt.queryOptions(
      { job_id: job.jobId },
      { enabled: job.receiptId !== null, staleTime: Infinity },
    ),
  );
  const text = useMemo(() => receipt && JSON.stringify(receipt, null, 2), [receipt]);
  const { data, error } = useVerified("receipt", text);
  const isAuthentic = data?.verified;
  const Icon = isAuthentic === false ? ShieldAlert : ShieldCheck;
  const tone = isAuthentic ? "text-good" : isAuthentic === false ? "text-bad" : "text-faint";
  return (
    <RailSection title="Seal" hint={job.receiptId && <TabLink id="receipt">Open receipt</TabLink>}>
      <p role="status" className="flex gap-2.5 text-sm">
        <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} />
        {job.receiptId === null
          ? "The receipt is sealed when the job ends."
          : error
            ? error.message
            : isAuthentic === undefined
              ? "Verifying the receipt…"
              : isAuthentic
                ? "The receipt is unchanged and signed by this installation, as verified in this browser."
                : "The receipt is not authentic: it was changed, or this installation did not sign it."}
      </p>
    </RailSection>
  );
}

const PAID_BY: Record<ExecutionCost["paidBy"], string> = {
  allowance: "First-use allowance",
  wallet: "Wallet",
  own_account: "Your own provider account",
  nobody: "No charge",
};

/** A job's estimate, reserved amount and payer. An unknown amount is shown as unknown, never as 0. */
function JobCost({ job }: { job: Job }) {
  const trpc = useTRPC();
  const { data: cost } = useQuery({
    // A new status needs a new query.
    ...trpc.usage.cost.queryOptions({ job_id: job.jobId, status: job.status }),
    placeholderData: keepPreviousData,
  });
  if (!cost) return null;
  return (
    <RailSection title="Cost" hint={cost.test && <TestMoneyBadge />}>
      <Facts>
        <Fact name="Estimated price">{dollars(cost.charge.estimatedMicros)}</Fact>
        <Fact name="Reserved">{reserved(cost)}</Fact>
        <Fact name="Includes service fee">{cost.feeMicros === null ? null : dollars(cost.feeMicros)}</Fact>
        <Fact name="Provider cost">{providerCost(cost, job)}</Fact>
        <Fact name="Paid by">{PAID_BY[cost.charge.state === "not_charged" ? "nobody" : cost.paidBy]}</Fact>
      </Facts>
    </RailSection>
  );
}

function reserved({ holdState, charge }: ExecutionCost): string | null {
  const heldMicros = charge.authorizedMicros;
  if (holdState === null) return null;
  if (holdState === "open") return dollars(heldMicros);
  if (holdState === "ambiguous") return `${dollars(heldMicros)}, until a person resolves it`;
  return `${dollars(heldMicros)}, ${holdState}`;
}

function providerCost({ providerCostMicros }: ExecutionCost, { completedAt }: Job): string {
  if (providerCostMicros !== null) return dollars(providerCostMicros);
  return completedAt ? "Unknown" : "Not yet";
}

function JobDetails({ job }: { job: Job }) {
  return (
    <RailSection title="Details">
      <Facts>
        <Fact name="Route">{job.diagnostics?.backendId}</Fact>
        <Fact name="Billing">{job.pricing?.mode}</Fact>
        <Fact name="Environment">{job.environment}</Fact>
        <Fact name="Comparison">
          {job.comparison && <ComparisonLink job={job}>{job.comparison.comparisonId}</ComparisonLink>}
        </Fact>
        <Fact name="Retry of">
          {job.retryOf && (
            <Link href={`/jobs/${job.retryOf}`} className="text-link hover:underline">
              {job.retryOf}
            </Link>
          )}
        </Fact>
        <Fact name="Tags">{job.tags.length === 0 ? null : <Tags tags={job.tags} />}</Fact>
      </Facts>
    </RailSection>
  );
}
