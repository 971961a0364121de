"use client";
import { useQuery } from "@tanstack/react-query";
import { BudgetBar } from "@/components/blocks/money/budget-bar";
import { useTRPC } from "@/components/data/trpc";
import Link from "@/components/ui/link";
import type { BudgetView } from "@/server/contract/budgets";
import type { RetailQuote } from "@/server/contract/pricing";
import { budgetName, MODES } from "./words";

const NO_KEYS = new Map<string, string>();

/** The limit with the least left, of those that a run on this route counts against. Limits of keys and people are ignored. */
export function tightestOf(
  budgets: readonly BudgetView[],
  { provider, billingMode }: NonNullable<RetailQuote["resolved"]>,
) {
  const isTest = provider === "sandbox";
  return budgets
    .filter(
      ({ scope, enforcement, managedOnly }) =>
        /^(project|organization):/.test(scope) &&
        enforcement !== "off" &&
        !(managedOnly && billingMode === "byok"),
    )
    .map((budget) => ({ budget, spend: isTest ? budget.testSpend : budget.spend }))
    .toSorted((one, other) => one.spend.availableMicros - other.spend.availableMicros)[0];
}

/**
 * The budget with the least left for a run, with the run as a ghost in its bar; renders nothing if no budget counts the run.
 */
export function RunBudget({ projectId, quote }: { projectId: string; quote: RetailQuote }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.budgets.list.queryOptions({ project_id: projectId }));
  const most = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  const tightest = quote.resolved && most > 0 ? tightestOf(data?.items ?? [], quote.resolved) : undefined;
  if (!tightest) return null;
  const { budget, spend } = tightest;
  const name = budgetName(budget, NO_KEYS);
  return (
    <div className="mt-3">
      <p className="flex justify-between gap-3 text-xs text-muted">
        <span>
          Budget: {name} ({MODES[budget.enforcement].toLowerCase()})
        </span>
        <Link href={`/projects/${projectId}/budgets`} className="rounded text-link hover:underline">
          Budgets
        </Link>
      </p>
      <BudgetBar
        name={name}
        ceilingMicros={budget.effectiveCeilingMicros}
        spend={spend}
        estimateMicros={most}
      />
    </div>
  );
}
