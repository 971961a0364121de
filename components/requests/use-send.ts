"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { useMutation } from "@/components/use-mutation";
import { requestHref } from "./list-state";

/** After something was done to a request: all that shows it is read again. */
export function useRefreshRequests() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.requests.pathKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.approvals.pathKey() }),
    ]);
}

/** Files a wording as a new request, and goes to its page. */
export function useCreate(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.create.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ id }) => {
        toast.success("The draft is saved");
        router.push(requestHref(projectId, id));
      },
      onSettled: refresh,
    }),
  );
}

/** Rewords a request, and goes back to its page. */
export function useRevise(projectId: string) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.revise.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ id, revision }) => {
        toast.success(`Revision ${revision.number} is saved as a draft`);
        router.push(requestHref(projectId, id));
      },
      onSettled: refresh,
    }),
  );
}

/** Hands the current wording to the operators. */
export function useSubmit() {
  const trpc = useTRPC();
  const refresh = useRefreshRequests();
  return useMutation(
    trpc.requests.submit.mutationOptions({
      onSuccess: () => toast.success("The request is submitted"),
      onSettled: refresh,
    }),
  );
}
