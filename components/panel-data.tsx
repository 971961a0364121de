"use client";
import {
  isServer,
  MutationCache,
  QueryCache,
  type QueryClient,
  QueryClientProvider,
} from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import type { AppRouter } from "@/server/trpc";
import { reportAnswered } from "./connection/connection";
import { ConnectionNotice } from "./connection/connection-notice";
import { makeQueryClient } from "./query-client";
import { FreshOnReturn } from "./shell/fresh-on-return";
import { isUnanswered, TRPCProvider, toFailure } from "./trpc";
import { UnsavedGuard } from "./unsaved/unsaved-guard";
import { signInBeside } from "./unsaved/unsaved-work";

/**
 * When the session has ended, sends the reader to sign in and back here afterwards; in another tab where this page has
 * unsaved input. `isAct`: something the reader did found the session ended.
 */
function leaveIfSignedOut(error: unknown, { isAct }: { isAct: boolean }) {
  if (!toFailure(error).isSignedOut || signInBeside({ isAct })) return;
  const here = window.location.pathname + window.location.search;
  window.location.assign(`/sign-in?${new URLSearchParams({ callbackUrl: here, reason: "ended" })}`);
}

const ALONE = new Set([
  "catalog.invoke",
  "catalog.submit",
  "catalog.quote",
  "comparisons.create",
  "comparisons.estimate",
  "pinned.run",
]);

let browserClient: QueryClient | undefined;

function queryClientHere(): QueryClient {
  if (isServer) return makeQueryClient(); // one per request
  browserClient ??= makeQueryClient({
    queryCache: new QueryCache({
      onSuccess: () => reportAnswered(true),
      onError(error) {
        reportAnswered(!isUnanswered(error));
        leaveIfSignedOut(error, { isAct: false });
      },
    }),
    mutationCache: new MutationCache({
      onError(error, _input, _result, mutation) {
        if (isUnanswered(error)) reportAnswered(false);
        leaveIfSignedOut(error, { isAct: true });
        if (mutation.meta?.isShownInPlace) return; // the form shows it beside the fields
        const failure = toFailure(error);
        toast.error(failure.message, {
          description: failure.requestId ? `Request ${failure.requestId}` : undefined,
        });
      },
    }),
  });
  return browserClient;
}

/** The data of every page below: one client of the API, its cache, and what is shown when it fails. */
export function PanelData({ children }: { children: ReactNode }) {
  const queryClient = queryClientHere();
  const [trpcClient] = useState(() =>
    createTRPCClient<AppRouter>({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({ url: "/api/trpc" }),
          false: splitLink({
            // Slow requests and file uploads are not batched, so nothing else waits for them.
            condition: ({ path }) => ALONE.has(path),
            true: httpLink({ url: "/api/trpc" }),
            false: httpBatchLink({ url: "/api/trpc", maxURLLength: 4000 }),
          }),
        }),
      ],
    }),
  );
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
        <UnsavedGuard />
        <ConnectionNotice />
        <FreshOnReturn />
      </TRPCProvider>
    </QueryClientProvider>
  );
}
