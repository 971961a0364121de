"use client";
import { useRouter } from "next/navigation";
import { useOptimistic, useTransition } from "react";

/**
 * Page state that lives in the URL. A choice applies immediately, as `wanted`, so that a second choice made before the
 * page has navigated keeps the first.
 */
export function useAddress<State extends object>(state: State, toHref: (state: State) => string) {
  const router = useRouter();
  const [wanted, want] = useOptimistic(state);
  const [isPending, startTransition] = useTransition();
  function show(next: State) {
    startTransition(() => {
      want(next);
      router.push(toHref(next), { scroll: false });
    });
  }
  return { wanted, isPending, show };
}
