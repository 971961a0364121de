"use client";
import type { z } from "zod";
import { column } from "@/components/blocks/list/columns";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { useTRPCClient } from "@/components/data/trpc";
import { LivePrice } from "@/components/playground/live-price";
import type { JsonObject } from "@/server/contract/common";
import type { ComparisonEstimate, Competitor } from "@/server/contract/comparisons";
import { competitorName } from "./draft";

type Body = { input: z.output<typeof JsonObject>; competitors: Competitor[] };

type Props = { projectId: string; capabilityKey: string; body: Body; enabled: boolean; hasUnread: boolean };

/** The estimated cost per competitor and in total, before the start. */
export function CostEstimate({ projectId, capabilityKey, body, enabled, hasUnread }: Props) {
  const client = useTRPCClient();
  return (
    <LivePrice
      name={["comparison-estimate", projectId, capabilityKey]}
      body={body}
      ask={(body) =>
        client.comparisons.estimate.mutate({ project_id: projectId, capability_key: capabilityKey, body })
      }
      hasUnread={hasUnread}
      instead={enabled ? null : "Choose two to four competitors to see the estimated cost."}
      noun="estimate"
      waiting="h-24 w-full"
    >
      {(estimate) => <Figures estimate={estimate} />}
    </LivePrice>
  );
}

const inDollars = (usd: number) => <Amount of={Math.round(usd * 1_000_000)} />;

const COLUMNS: TableColumn<ComparisonEstimate["competitors"][number]>[] = [
  {
    header: "Competitor",
    card: "title",
    className: "[overflow-wrap:anywhere]",
    cell: ({ competitor, billingMode }) => (
      <>
        {competitorName(competitor)}
        {billingMode && <span className="ml-1.5 text-xs text-muted">{billingMode}</span>}
      </>
    ),
  },
  column.amount("Estimate", ({ estimatedCost }) => inDollars(estimatedCost)),
  column.quiet("Maximum", ({ maximumCost }) => inDollars(maximumCost)),
];

function Figures({ estimate }: { estimate: ComparisonEstimate }) {
  const { competitors, total } = estimate;
  return (
    <>
      <ResourceTable
        isSmall
        label="Estimated cost per competitor"
        rows={competitors}
        idOf={(row) => String(competitors.indexOf(row))}
        columns={COLUMNS}
        totals={["Total", inDollars(total.estimatedCost), inDollars(total.maximumCost)]}
      />
      <p className="mt-1 text-xs text-muted">
        An estimate at current prices, not a quote. Nothing is reserved yet.
      </p>
    </>
  );
}
