"use client";
import { useRouter } from "next/navigation";
import { useAction } from "@/components/blocks/data/use-action";
import { useTRPC } from "@/components/data/trpc";
import { requestHref } from "./list-state";

/** The queries that an action on a request may change. */
function useShownRequests() {
  const trpc = useTRPC();
  return [trpc.requests.pathKey(), trpc.approvals.pathKey()];
}

/** Files a new request, and opens its page. */
export function useCreate(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  return useAction(trpc.requests.create.mutationOptions(), {
    isInPlace: true,
    done: "Draft saved",
    onDone: ({ id }) => router.push(requestHref(projectId, id)),
    refresh: useShownRequests(),
  });
}

/** Revises a request, and returns to its page. */
export function useRevise(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  return useAction(trpc.requests.revise.mutationOptions(), {
    isInPlace: true,
    done: ({ revision }) => `Revision ${revision.number} saved as a draft`,
    onDone: ({ id }) => router.push(requestHref(projectId, id)),
    refresh: useShownRequests(),
  });
}

/** Submits the current revision to the operators. */
export function useSubmit() {
  const trpc = useTRPC();
  return useAction(trpc.requests.submit.mutationOptions(), {
    done: "Request submitted",
    refresh: useShownRequests(),
  });
}
