"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { toFailure } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import { toPriced } from "./priced";
import { labelOf } from "./schema";
import { useSettled } from "./use-settled";

type Props<Body extends { input?: unknown }, Price> = {
  /** Distinguishes what is asked for from other prices. */
  name: string[];
  body: Body;
  ask(body: Body): Promise<Price>;
  /** A text of the input is not valid, so a price would be that of its previous value. */
  hasUnread: boolean;
  /** What is shown in place of a price that may not be asked for yet. */
  instead: string | null;
  /** "price" */
  noun: string;
  /** Of the place that is kept for the price. */
  waiting: string;
  children(price: Price): ReactNode;
};

/** What a request will cost, asked again when its changes have settled; where no price can be shown, why. */
export function LivePrice<Body extends { input?: unknown }, Price>({
  name,
  body,
  ask,
  hasUnread,
  instead,
  noun,
  waiting,
  children,
}: Props<Body, Price>) {
  const priced = useMemo(() => JSON.stringify({ ...body, input: toPriced(body.input) }), [body]);
  const text = useSettled(priced);
  const { data, error, isFetching } = useQuery({
    queryKey: [...name, text],
    queryFn: () => ask(JSON.parse(text)),
    enabled: instead === null && !hasUnread,
    retry: false,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    meta: { isShownInPlace: true },
  });
  const why =
    instead ??
    (hasUnread ? `No ${noun}. The JSON is not valid yet.` : error && `No ${noun} yet: ${reasonOf(error)}`);
  return (
    <div aria-live="polite" aria-busy={isFetching} className="min-h-10 basis-full text-sm" data-price={noun}>
      {why ? (
        <span className="text-muted">{why}</span>
      ) : data ? (
        children(data)
      ) : (
        <Skeleton className={waiting} />
      )}
    </div>
  );
}

/** Field errors appear at the fields after submitting. */
function reasonOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  const names = new Set(
    issues.map(({ loc }) => labelOf(String(loc.findLast((step) => typeof step === "string") ?? "input"))),
  );
  return names.size > 0 ? `check ${[...names].join(", ")}.` : message;
}
