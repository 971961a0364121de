"use client";
import { useQueryClient } from "@tanstack/react-query";
import { sentencesOf, toFailure, useTRPC } from "@/components/trpc";
import { toast } from "@/components/ui/toaster";
import type { RequestDossier } from "@/server/contract/dossiers";

/** The props of every dialog of an action. */
export type ActProps = { dossier: RequestDossier; onOutdated: (why: string | null) => void };

export type ActEnds = {
  /** The toast on success. */
  done: string;
  /** Closes the action's dialog. */
  onEnd?: () => void;
  /** The request has changed since the operator loaded it; it is fetched again. */
  onOutdated: (why: string | null) => void;
};

/** The request has changed since the operator loaded it. Then a form about it closes. */
export const isOutdated = (error: unknown) => toFailure(error).code === "RequestStateConflict";

/**
 * The `mutationOptions` of an operator's action. Success shows a toast; a request that changed meanwhile shows a notice
 * on the page; any other refusal shows in the form. All operator data is fetched again.
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
