"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { formatUsd } from "@/components/jobs/format-usd";
import { useTRPCClient } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import type { RetailQuote } from "@/server/contract/pricing";
import { toPriced } from "./priced";
import { labelOf } from "./schema";
import type { RunRequest } from "./use-run";
import { useSettled } from "./use-settled";
import { UNREAD, whyNoPrice } from "./why-no-price";

/** The request's price before it is sent. */
export function Cost({
  projectId,
  capabilityKey,
  request,
  enabled,
  hasUnread,
}: {
  projectId: string;
  capabilityKey: string;
  request: RunRequest;
  enabled: boolean;
  /** A text of the input is not valid, so a price would be that of its previous value. */
  hasUnread: boolean;
}) {
  const client = useTRPCClient();
  const { input, execution } = request.body;
  const priced = useMemo(() => JSON.stringify({ input: toPriced(input), execution }), [input, execution]);
  const text = useSettled(priced);
  const { data, error, isFetching } = useQuery({
    queryKey: ["playground-quote", projectId, capabilityKey, text],
    queryFn: () =>
      client.catalog.quote.mutate({
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
    <div aria-live="polite" aria-busy={isFetching} className="min-h-10 basis-full text-sm" data-cost>
      {!enabled ? (
        <span className="text-muted">Prices are shown to members who can run this.</span>
      ) : hasUnread ? (
        <span className="text-muted">No price. {UNREAD}</span>
      ) : error ? (
        <span className="text-muted">No price yet: {whyNoPrice(error)}</span>
      ) : data ? (
        <Figures quote={data} />
      ) : (
        <Skeleton className="h-9 w-44" />
      )}
    </div>
  );
}

const labelOfPointer = (pointer: string) =>
  labelOf(pointer.split("/").findLast((step) => !/^\d*$/.test(step)) ?? "input");

function Figures({ quote }: { quote: RetailQuote }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">No price yet: check {quote.missing.map(labelOfPointer).join(", ")}.</span>
    );
  const usd = (micros: number) => formatUsd(micros / 1_000_000);
  const expected = quote.expectedCharge?.amountMicros ?? 0;
  const most = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  const route = quote.resolved;
  if (!route || (expected === 0 && most === 0))
    return (
      <>
        <span className="block font-semibold">Free</span>
        <span className="block text-xs text-muted">
          {route?.model ? `on ${route.provider}/${route.model}` : "runs locally, without a provider"}
        </span>
      </>
    );
  const isExact = quote.pricing?.quote?.qualifier === "exact";
  return (
    <>
      <span className="block font-semibold tabular-nums">
        {expected === most ? usd(most) : `about ${usd(expected)}`}
        {expected !== most && <span className="font-normal text-muted">, at most {usd(most)}</span>}
      </span>
      <span className="block text-xs text-muted">
        {isExact ? "exact count" : "upper bound"} · {route.provider}/{route.model} ·{" "}
        {route.billingMode === "byok" ? "you pay $0.00, the provider bills you" : route.billingMode}
      </span>
    </>
  );
}
