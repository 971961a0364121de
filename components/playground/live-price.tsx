"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { toFailure } from "@/components/data/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import { toPriced } from "./priced";
import { fieldLabel } from "./schema";
import { useSettled } from "./use-settled";

type Props<Body extends { input?: unknown }, Price> = {
  /** The query key, which distinguishes prices. */
  name: string[];
  body: Body;
  ask(body: Body): Promise<Price>;
  /** True while a text of the input is not valid, so that a price would be that of its previous value. */
  hasUnread: boolean;
  /** Shown in place of a price that may not be requested yet; null otherwise. */
  instead: string | null;
  /** The noun in its messages, such as "price". */
  noun: string;
  /** Classes of the placeholder, which has the size of the price. */
  waiting: string;
  children(price: Price): ReactNode;
};

/** The price of a request, requested again once changes have settled; if there is none, the reason. */
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

/** Only names the fields to check: their errors appear at the fields after submitting. */
function reasonOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  const names = new Set(
    issues.map(({ loc }) => fieldLabel(String(loc.findLast((step) => typeof step === "string") ?? "input"))),
  );
  return names.size > 0 ? `check ${[...names].join(", ")}.` : message;
}
