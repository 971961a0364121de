"use client";
import {
  isServer,
  MutationCache,
  QueryCache,
  type QueryClient,
  QueryClientProvider,
  useQueryClient,
} from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { CloudOff } from "lucide-react";
import { useOffline } from "next/offline";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { reportAnswered, useConnectionLost } from "@/components/connection/connection";
import { returnHref } from "@/components/sign-in/href";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toaster";
import { UnsavedGuard } from "@/components/unsaved/unsaved-guard";
import { isAnythingUnsaved, signInBeside } from "@/components/unsaved/unsaved-work";
import type { AppRouter } from "@/server/trpc";
import { makeQueryClient } from "./query-client";
import { isUnanswered, TRPCProvider, toFailure, useTRPCClient } from "./trpc";

/**
 * Sends a reader whose session has ended to sign in and back here afterwards, or in another tab if this page has unsaved
 * input. `isAct` is true if an action of the reader found the session ended.
 */
function leaveIfSignedOut(error: unknown, { isAct }: { isAct: boolean }) {
  if (!toFailure(error).isSignedOut || signInBeside({ isAct })) return;
  const href = returnHref(window.location);
  if (href) window.location.assign(href);
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
  if (isServer) return makeQueryClient(); // one client per request
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

/** Provides data to every page: one API client, its cache, and the handling of its failures. */
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

/**
 * Reloads a page that the browser restores from memory on "Back", because its session may have ended since. A page with
 * unsaved input stays and its data is fetched again, which finds an ended session too.
 */
function FreshOnReturn() {
  const queryClient = useQueryClient();
  useEffect(() => {
    function shown(event: PageTransitionEvent) {
      if (!event.persisted) return;
      if (isAnythingUnsaved()) return void queryClient.invalidateQueries();
      document.body.hidden = true; // hidden until the new page replaces this one
      window.location.reload();
    }
    window.addEventListener("pageshow", shown);
    return () => window.removeEventListener("pageshow", shown);
  }, [queryClient]);
  return null;
}

const RETRY_MS = 3000;

/** Shows that the server cannot be reached, retries until it responds, and then refreshes the page. */
function ConnectionNotice() {
  const isLost = useConnectionLost();
  const retry = useRetry(isLost);
  return (
    <div className="pointer-events-none fixed inset-x-0 bottom-4 z-40 flex justify-center px-4">
      {/* The notice has no role, because pages have a status of their own. */}
      <div aria-live="polite">
        {isLost && (
          <div className="pointer-events-auto flex items-center gap-3 rounded-lg border border-warn-line bg-warn-soft py-2.5 pr-2.5 pl-3.5 text-sm shadow-raised">
            <CloudOff aria-hidden className="size-4 shrink-0 text-warn" />
            <div className="min-w-0">
              <p className="font-semibold text-warn">Connection lost, retrying</p>
              <p className="text-xs text-text">
                Data may be out of date. Links work again once the server responds.
              </p>
            </div>
            <Button size="sm" onClick={retry}>
              Retry
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}

/** Pings the server every few seconds while it is unreachable; returns a function that pings immediately. */
function useRetry(isLost: boolean): () => void {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const ask = useCallback(
    () =>
      client.projects.list.query(undefined, { signal: AbortSignal.timeout(RETRY_MS) }).then(
        () => reportAnswered(true),
        () => undefined,
      ),
    [client],
  );
  const isOffline = useOffline(); // true when the device is offline or a navigation did not reach the server
  useEffect(() => {
    if (isOffline) reportAnswered(false);
  }, [isOffline]);
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(ask, RETRY_MS);
    return () => {
      clearInterval(timer);
      window.dispatchEvent(new Event("online")); // makes Next retry a pending navigation
      void queryClient.invalidateQueries();
    };
  }, [isLost, ask, queryClient]);
  return ask;
}
