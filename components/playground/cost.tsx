"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { formatUsd } from "@/components/jobs/format-usd";
import { toFailure, useTRPCClient } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import type { RetailQuote } from "@/server/contract/pricing";
import { labelOf } from "./schema";
import type { RunRequest } from "./use-run";
import { useSettled } from "./use-settled";

/** What the request would cost, before it is sent. */
export function Cost({
  projectId,
  capabilityKey,
  request,
  enabled,
}: {
  projectId: string;
  capabilityKey: string;
  request: RunRequest;
  enabled: boolean;
}) {
  const client = useTRPCClient();
  const text = useSettled(JSON.stringify({ input: request.body.input, execution: request.body.execution }));
  const { data, error, isFetching } = useQuery({
    queryKey: ["playground-quote", projectId, capabilityKey, text],
    queryFn: () =>
      client.catalog.quote.mutate({
        project_id: projectId,
        capability_key: capabilityKey,
        body: JSON.parse(text),
      }),
    enabled,
    retry: false,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    meta: { isShownInPlace: true },
  });
  return (
    <div aria-live="polite" aria-busy={isFetching} className="min-h-10 text-sm" data-cost>
      {!enabled ? (
        <span className="text-muted">Prices are shown to who may run.</span>
      ) : error ? (
        <span className="text-muted">No price yet: {whyOf(error)}</span>
      ) : data ? (
        <Figures quote={data} />
      ) : (
        <Skeleton className="h-9 w-44" />
      )}
    </div>
  );
}

/** Why there is none; what is wrong with a field is said at the field, once it was sent. */
function whyOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  const names = new Set(
    issues.map(({ loc }) => labelOf(String(loc.findLast((step) => typeof step === "string") ?? "input"))),
  );
  return names.size > 0 ? `check ${[...names].join(", ")}.` : message;
}

function Figures({ quote }: { quote: RetailQuote }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">
        No price yet: {quote.missing.map((field) => field.replace("/input/", "")).join(", ")} missing.
      </span>
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
          {route?.model ? `on ${route.provider}/${route.model}` : "done here, without a provider"}
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
        {isExact ? "exact count" : "upper bound"} · {route.provider}/{route.model} · {route.billingMode}
      </span>
    </>
  );
}
