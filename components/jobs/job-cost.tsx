"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { TestMoneyBadge } from "@/components/billing/test-money";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { Job } from "@/server/contract/jobs";
import type { ExecutionCost } from "@/server/contract/usage";
import { chargeWords } from "./charge-words";
import { formatUsd } from "./format-usd";

const PAID_BY: Record<ExecutionCost["paidBy"], string> = {
  allowance: "First-use allowance",
  wallet: "Wallet",
  own_account: "Your own provider account",
  nobody: "No charge",
};

/** A job's estimate, reserved amount, charge and payer. An unknown amount is shown as unknown, never as 0. */
export function JobCost({ job }: { job: Job }) {
  const trpc = useTRPC();
  const { data: cost } = useQuery({
    // A new status needs a new query.
    ...trpc.usage.cost.queryOptions({ job_id: job.jobId, status: job.status }),
    placeholderData: keepPreviousData,
  });
  if (!cost) return null;
  return (
    <Card aria-labelledby="cost-title">
      <CardHeader title="Cost" id="cost-title" actions={cost.test && <TestMoneyBadge />} />
      <CardBody>
        <Facts>
          <Fact name="You pay">{youPay(cost)}</Fact>
          <Fact name="Estimated price">{usd(cost.charge.estimatedMicros)}</Fact>
          <Fact name="Reserved">{reserved(cost)}</Fact>
          <Fact name="Includes service fee">{cost.feeMicros === null ? null : usd(cost.feeMicros)}</Fact>
          <Fact name="Provider cost">{providerCost(cost, job)}</Fact>
          <Fact name="Paid by">{PAID_BY[cost.paidBy]}</Fact>
        </Facts>
      </CardBody>
    </Card>
  );
}

const usd = (micros: number) => formatUsd(micros / 1_000_000);

function reserved({ holdState, charge }: ExecutionCost): string | null {
  const heldMicros = charge.authorizedMicros;
  if (holdState === null) return null;
  if (holdState === "open") return usd(heldMicros);
  if (holdState === "ambiguous") return `${usd(heldMicros)}, until a person resolves it`;
  return `${usd(heldMicros)}, ${holdState}`;
}

const youPay = ({ charge, corrected }: ExecutionCost) =>
  corrected ? `${chargeWords(charge)}, set by a person` : chargeWords(charge);

function providerCost({ providerCostMicros }: ExecutionCost, { completedAt }: Job): string {
  if (providerCostMicros !== null) return usd(providerCostMicros);
  return completedAt ? "Unknown" : "Not yet";
}
