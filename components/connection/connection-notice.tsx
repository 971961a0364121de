"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CloudOff } from "lucide-react";
import { useOffline } from "next/offline";
import { useCallback, useEffect } from "react";
import { useTRPCClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { reportAnswered, useConnectionLost } from "./connection";

const RETRY_MS = 3000;

/** Shows that the server cannot be reached, retries until it responds, and then refreshes the page. */
export function ConnectionNotice() {
  const isLost = useConnectionLost();
  const retry = useRetry(isLost);
  return (
    <div className="pointer-events-none fixed inset-x-0 bottom-4 z-40 flex justify-center px-4">
      {/* No role: pages have a status of their own. */}
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
      window.dispatchEvent(new Event("online")); // Next then retries a navigation that waits
      void queryClient.invalidateQueries();
    };
  }, [isLost, ask, queryClient]);
  return ask;
}
