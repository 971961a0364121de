"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { useMutation } from "@/components/use-mutation";
import { requestHref } from "./list-state";

/** After an action on a request, fetches everything that shows it again. */
export function useRefreshRequests() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.requests.pathKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.approvals.pathKey() }),
    ]);
}

/** Files a new request, and opens its page. */
export function useCreate(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.create.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ id }) => {
        toast.success("Draft saved");
        router.push(requestHref(projectId, id));
      },
      onSettled: refresh,
    }),
  );
}

/** Revises a request, and returns to its page. */
export function useRevise(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.revise.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ id, revision }) => {
        toast.success(`Revision ${revision.number} saved as a draft`);
        router.push(requestHref(projectId, id));
      },
      onSettled: refresh,
    }),
  );
}

/** Submits the current revision to the operators. */
export function useSubmit() {
  const trpc = useTRPC();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.submit.mutationOptions({
      onSuccess: () => toast.success("Request submitted"),
      onSettled: refresh,
    }),
  );
}
