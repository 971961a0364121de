"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { z } from "zod";
import { formatUsd } from "@/components/jobs/format-usd";
import { toPriced } from "@/components/playground/priced";
import { useSettled } from "@/components/playground/use-settled";
import { UNREAD, whyNoPrice } from "@/components/playground/why-no-price";
import { useTRPCClient } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import type { JsonObject } from "@/server/contract/common";
import type { ComparisonEstimate, Competitor } from "@/server/contract/comparisons";
import { competitorName } from "./draft";

type Body = { input: z.output<typeof JsonObject>; competitors: Competitor[] };

/** The estimated cost per competitor and in total, before the start. */
export function Estimate({
  projectId,
  capabilityKey,
  body,
  enabled,
  hasUnread,
}: {
  projectId: string;
  capabilityKey: string;
  body: Body;
  enabled: boolean;
  /** A field of the input cannot be parsed, so an estimate would use its previous value. */
  hasUnread: boolean;
}) {
  const client = useTRPCClient();
  const { input, competitors } = body;
  const priced = useMemo(() => JSON.stringify({ input: toPriced(input), competitors }), [input, competitors]);
  const text = useSettled(priced);
  const { data, error, isFetching } = useQuery({
    queryKey: ["comparison-estimate", projectId, capabilityKey, text],
    queryFn: () =>
      client.comparisons.estimate.mutate({
        project_id: projectId,
        capability_key: capabilityKey,
        body: JSON.parse(text),
      }),
    enabled: enabled && !hasUnread,
    retry: false,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    meta: { isShownInPlace: true },
  });
  return (
    <div aria-live="polite" aria-busy={isFetching} className="min-h-10 text-sm" data-estimate>
      {!enabled ? (
        <p className="text-muted">Choose two to four competitors to see the estimated cost.</p>
      ) : hasUnread ? (
        <p className="text-muted">No estimate. {UNREAD}</p>
      ) : error ? (
        <p className="text-muted">No estimate yet: {whyNoPrice(error)}</p>
      ) : data ? (
        <Figures estimate={data} />
      ) : (
        <Skeleton className="h-24 w-full" />
      )}
    </div>
  );
}

function Figures({ estimate }: { estimate: ComparisonEstimate }) {
  const { competitors, total } = estimate;
  return (
    <>
      <table className="w-full border-collapse tabular-nums">
        <caption className="sr-only">Estimated cost per competitor</caption>
        <thead>
          <tr className="text-xs text-muted">
            <th scope="col" className="pb-1 text-left font-medium">
              Competitor
            </th>
            <th scope="col" className="pb-1 pl-3 text-right font-medium">
              Estimate
            </th>
            <th scope="col" className="pb-1 pl-3 text-right font-medium">
              Maximum
            </th>
          </tr>
        </thead>
        <tbody>
          {competitors.map(({ competitor, estimatedCost, maximumCost, billingMode }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: competitors have no id and a fixed order
            <tr key={at} className="border-t border-line">
              <th scope="row" className="py-1.5 text-left font-normal [overflow-wrap:anywhere]">
                {competitorName(competitor)}
                {billingMode && <span className="ml-1.5 text-xs text-muted">{billingMode}</span>}
              </th>
              <td className="py-1.5 pl-3 text-right">{formatUsd(estimatedCost)}</td>
              <td className="py-1.5 pl-3 text-right text-muted">{formatUsd(maximumCost)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className="border-t border-line-strong font-semibold">
            <th scope="row" className="py-1.5 text-left">
              Total
            </th>
            <td className="py-1.5 pl-3 text-right">{formatUsd(total.estimatedCost)}</td>
            <td className="py-1.5 pl-3 text-right">{formatUsd(total.maximumCost)}</td>
          </tr>
        </tfoot>
      </table>
      <p className="mt-1 text-xs text-muted">
        An estimate at current prices, not a quote. Nothing is reserved yet.
      </p>
    </>
  );
}
