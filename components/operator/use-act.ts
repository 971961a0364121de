"use client";
import { useQueryClient } from "@tanstack/react-query";
import { sentencesOf, toFailure, useTRPC } from "@/components/data/trpc";
import { toast } from "@/components/ui/toaster";
import type { RequestDossier } from "@/server/contract/dossiers";

/** The props of every dialog of an action. */
export type ActProps = { dossier: RequestDossier; onOutdated: (why: string | null) => void };

export type ActEnds = {
  /** The toast on success. */
  done: string;
  /** Closes the action's dialog. */
  onEnd?: () => void;
  /** Called when the request has changed since the operator loaded it; the request is then fetched again. */
  onOutdated: (why: string | null) => void;
};

/** True if the request has changed since the operator loaded it; a form about the request then closes. */
export const isOutdated = (error: unknown) => toFailure(error).code === "RequestStateConflict";

/**
 * The `mutationOptions` of an operator's action. Success shows a toast; a changed request shows a notice on the page; any
 * other error shows in the form. All operator data is fetched again.
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
      if (!isOutdated(error)) return;
      onOutdated(sentencesOf(error));
      onEnd?.();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.operator.pathKey() }),
  };
}
