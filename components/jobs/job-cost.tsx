"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { TestMoneyBadge } from "@/components/billing/test-money";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { Job } from "@/server/contract/jobs";
import type { ExecutionCost } from "@/server/contract/usage";
import { HiddenCard, isBlind } from "./blind";
import { formatUsd } from "./format-usd";

const PAID_BY: Record<ExecutionCost["paidBy"], string> = {
  allowance: "The first-use allowance",
  wallet: "The wallet",
  own_account: "Your own provider account",
  nobody: "Nobody: it costs nothing",
};

/** What a job was estimated at, has reserved, was charged, and who pays. What nobody knows is said so, and is never 0. */
export function JobCost({ job }: { job: Job }) {
  const trpc = useTRPC();
  const { data: cost } = useQuery({
    enabled: !isBlind(job),
    // In another status it is another question.
    ...trpc.usage.cost.queryOptions({ job_id: job.jobId, status: job.status }),
    placeholderData: keepPreviousData,
  });
  if (isBlind(job)) return <HiddenCard job={job} title="Cost" id="cost-title" what="What it cost is" />;
  if (!cost) return null;
  return (
    <Card aria-labelledby="cost-title">
      <CardHeader title="Cost" id="cost-title" actions={cost.test && <TestMoneyBadge />} />
      <CardBody>
        <Facts>
          <Fact name="Estimated charge">{usd(cost.estimateMicros)}</Fact>
          <Fact name="Reserved">{reserved(cost)}</Fact>
          <Fact name="Charged">{charged(cost)}</Fact>
          <Fact name="of it service fee">{cost.feeMicros === null ? null : usd(cost.feeMicros)}</Fact>
          <Fact name="Provider cost">{providerCost(cost, job)}</Fact>
          <Fact name="Paid by">{PAID_BY[cost.paidBy]}</Fact>
        </Facts>
      </CardBody>
    </Card>
  );
}

const usd = (micros: number) => formatUsd(micros / 1_000_000);

function reserved({ holdState, heldMicros }: ExecutionCost): string | null {
  if (holdState === null) return null;
  if (holdState === "open") return usd(heldMicros);
  if (holdState === "ambiguous") return `${usd(heldMicros)}, until a person decides about it`;
  return `${usd(heldMicros)}, ${holdState}`;
}

function charged({ chargedMicros, corrected, holdState }: ExecutionCost): string {
  if (chargedMicros === null) return holdState === "ambiguous" ? "Unknown" : "Not yet";
  return corrected ? `${usd(chargedMicros)}, decided by a person` : usd(chargedMicros);
}

function providerCost({ providerCostMicros }: ExecutionCost, { completedAt }: Job): string {
  if (providerCostMicros !== null) return usd(providerCostMicros);
  return completedAt ? "Unknown" : "Not yet";
}
