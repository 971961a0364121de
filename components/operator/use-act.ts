"use client";
import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { sentencesOf, toFailure, useTRPC } from "@/components/trpc";

export type ActEnds = {
  /** What is said when it is done. */
  done: string;
  /** Closes what was open for it. */
  onEnd?: () => void;
  /** The request is not any more what the operator looked at; it is read again. */
  onOutdated: (why: string | null) => void;
};

/**
 * How the end of an act is told, for `mutationOptions`: done; refused because the request changed meanwhile, which stays on the
 * page; or refused for another reason, which its form says. All that the operators' rooms show is read again.
 */
export function useActEnds({ done, onEnd, onOutdated }: ActEnds) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return {
    meta: { isShownInPlace: true },
    onSuccess: () => {
      toast.success(done);
      onOutdated(null);
      onEnd?.();
    },
    onError: (error: unknown) => {
      if (toFailure(error).code !== "RequestStateConflict") return;
      onOutdated(sentencesOf(error));
      onEnd?.();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.operator.pathKey() }),
  };
}
