"use client";
import { useMemo } from "react";
import { dollars } from "@/components/blocks/money/money";
import { RunBudget } from "@/components/budgets/run-budget";
import { useTRPCClient } from "@/components/trpc";
import type { JsonObject } from "@/server/contract/common";
import type { RetailQuote } from "@/server/contract/pricing";
import { LivePrice } from "./live-price";
import { labelOf } from "./schema";
import type { RunRequest } from "./use-run";

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
  hasUnread: boolean;
}) {
  const client = useTRPCClient();
  const { input, execution } = request.body;
  const body = useMemo(() => ({ input, execution }), [input, execution]);
  return (
    <LivePrice
      name={["playground-quote", projectId, capabilityKey]}
      body={body}
      ask={(body) =>
        client.catalog.quote.mutate({
          project_id: projectId,
          capability_key: capabilityKey,
          body: body as JsonObject, // it has been JSON on the way here
        })
      }
      hasUnread={hasUnread}
      instead={enabled ? null : "Prices are shown to members who can run this."}
      noun="price"
      waiting="h-9 w-44"
    >
      {(quote) => (
        <>
          <Figures quote={quote} />
          <RunBudget projectId={projectId} quote={quote} />
        </>
      )}
    </LivePrice>
  );
}

const labelOfPointer = (pointer: string) =>
  labelOf(pointer.split("/").findLast((step) => !/^\d*$/.test(step)) ?? "input");

function Figures({ quote }: { quote: RetailQuote }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">No price yet: check {quote.missing.map(labelOfPointer).join(", ")}.</span>
    );
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
        {expected === most ? dollars(most) : `about ${dollars(expected)}`}
        {expected !== most && <span className="font-normal text-muted">, at most {dollars(most)}</span>}
      </span>
      <span className="block text-xs text-muted">
        {isExact ? "exact count" : "upper bound"} · {route.provider}/{route.model} ·{" "}
        {route.billingMode === "byok" ? "you pay $0.00, the provider bills you" : route.billingMode}
      </span>
    </>
  );
}
