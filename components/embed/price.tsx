"use client";
import { useEffect, useState } from "react";
import { dollars } from "@/components/blocks/money/money";
import { useSettled } from "@/components/playground/use-settled";
import { UNREACHABLE } from "@/components/unreachable";
import type { RetailQuote } from "@/server/contract/pricing";
import { type PanelApi, Refusal } from "./api";

/** The input's price, broken down where the embed's settings say so. */
export function Price({
  api,
  capabilityKey,
  input,
  isBrokenDown,
}: {
  api: PanelApi;
  capabilityKey: string;
  input: Record<string, unknown>;
  isBrokenDown: boolean;
}) {
  const text = useSettled(JSON.stringify(input));
  const [quote, setQuote] = useState<RetailQuote | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isGone = false;
    api
      .json<RetailQuote>(`/v1/capabilities/${capabilityKey}/quote`, { input: JSON.parse(text) })
      .then((fresh) => {
        if (!isGone) [setQuote(fresh), setProblem(null)];
      })
      .catch((cause) => {
        if (isGone) return;
        setQuote(null);
        const first = cause instanceof Refusal ? cause.failure.issues[0]?.msg : undefined;
        setProblem(first ?? (cause instanceof Refusal ? cause.message : UNREACHABLE));
      });
    return () => {
      isGone = true;
    };
  }, [api, capabilityKey, text]);
  return (
    <p className="flex min-h-10 flex-col justify-center text-sm" aria-live="polite" data-price>
      {problem && <span className="text-muted">No price yet: {problem}</span>}
      {quote && <Figures quote={quote} isBrokenDown={isBrokenDown} />}
    </p>
  );
}

function Figures({ quote, isBrokenDown }: { quote: RetailQuote; isBrokenDown: boolean }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">
        No price yet: enter {quote.missing.map((field) => field.replace("/input/", "")).join(", ")}.
      </span>
    );
  const usd = (micros: number | undefined) => dollars(micros ?? 0);
  const expected = quote.expectedCharge?.amountMicros ?? 0;
  const most = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  if (most === 0) return <span className="font-semibold">Free</span>;
  const parts = quote.pricing?.quote;
  return (
    <>
      <span className="block font-semibold tabular-nums">
        {expected === most ? usd(most) : `about ${usd(expected)}, at most ${usd(most)}`}
      </span>
      {isBrokenDown && parts && (
        <span className="block text-xs text-muted tabular-nums">
          {usd(parts.chargeBasis?.amountMicros)} and a fee of {usd(parts.serviceFee?.amountMicros)}
        </span>
      )}
    </>
  );
}
