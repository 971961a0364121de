"use client";
import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/components/blocks/data/use-project";
import { BudgetBar } from "@/components/blocks/money/budget-bar";
import { type Failure, useTRPC } from "@/components/data/trpc";
import Link from "@/components/ui/link";
import { wallOf } from "./wall";
import { budgetName } from "./words";

const NO_KEYS = new Map<string, string>();

/**
 * The limit that stopped a run: how full it is, how much the run needed, and the next step. Renders nothing for other
 * failures.
 */
export function BudgetWall({ projectId, failure }: { projectId: string; failure: Failure }) {
  const trpc = useTRPC();
  const { may } = useProject(projectId);
  const isStopped = failure.code === "BudgetExceeded";
  const { data } = useQuery({
    ...trpc.budgets.list.queryOptions({ project_id: projectId }),
    enabled: isStopped,
  });
  const wall = isStopped ? wallOf(failure.details, data?.items ?? []) : null;
  if (!wall) return null;
  return (
    <div className="mt-3 space-y-2" data-budget-wall>
      <BudgetBar
        name={wall.budget ? budgetName(wall.budget, NO_KEYS) : "Limit"}
        ceilingMicros={wall.ceilingMicros}
        spend={wall.spend}
        estimateMicros={wall.askedMicros}
      />
      <Link href={`/projects/${projectId}/budgets`} className="rounded text-sm text-link underline">
        {may("admin") ? "Raise the limit" : "Open budgets"}
      </Link>
    </div>
  );
}
