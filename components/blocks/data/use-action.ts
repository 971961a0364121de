"use client";
import {
  hashKey,
  type QueryKey,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { toast } from "@/components/ui/toaster";

type Result<Output, Failure, Input, Context> = UseMutationResult<Output, Failure, Input, Context>;

export type ActionOptions<Output, Input> = {
  /** The toast on success. */
  done?: string | ((output: Output, input: Input) => string);
  /** Queries whose data the action may have changed; they are fetched again on success and on failure. */
  refresh?: readonly QueryKey[];
  onDone?(output: Output, input: Input): unknown;
  /** True if the action's form shows an error; otherwise a toast does. */
  isInPlace?: boolean;
};

/**
 * A change of the server's state. It runs once however often it is called while in flight, because a second click may arrive
 * before the button is disabled. `reset` stops waiting for the call in flight.
 */
export function useAction<Output = unknown, Failure = Error, Input = void, Context = unknown>(
  mutation: UseMutationOptions<Output, Failure, Input, Context>,
  options: ActionOptions<Output, Input>,
): Result<Output, Failure, Input, Context> {
  return useOnce(useMutation(useOptions(mutation, options)), () => "");
}

/** An action whose calls may run in parallel, one per list row; calls with the same input run once. */
export function useActionPerInput<Output = unknown, Failure = Error, Input = void, Context = unknown>(
  mutation: UseMutationOptions<Output, Failure, Input, Context>,
  options: ActionOptions<Output, Input>,
): Result<Output, Failure, Input, Context> {
  return useOnce(useMutation(useOptions(mutation, options)), (input) => hashKey([input]));
}

function useOptions<Output, Failure, Input, Context>(
  mutation: UseMutationOptions<Output, Failure, Input, Context>,
  { done, refresh = [], onDone, isInPlace }: ActionOptions<Output, Input>,
): UseMutationOptions<Output, Failure, Input, Context> {
  const queryClient = useQueryClient();
  return {
    ...mutation,
    meta: { ...mutation.meta, ...(isInPlace && { isShownInPlace: true }) },
    onSuccess(...success) {
      const [output, input] = success;
      const words = typeof done === "function" ? done(output, input) : done;
      if (words) toast.success(words);
      return Promise.all([mutation.onSuccess?.(...success), onDone?.(output, input)]);
    },
    onSettled: (...ended) =>
      Promise.all([
        mutation.onSettled?.(...ended),
        ...refresh.map((queryKey) => queryClient.invalidateQueries({ queryKey })),
      ]),
  };
}

function useOnce<Output, Failure, Input, Context>(
  mutation: Result<Output, Failure, Input, Context>,
  keyOf: (input: Input) => string,
): Result<Output, Failure, Input, Context> {
  type Start = typeof mutation.mutateAsync;
  const underWay = useRef(new Map<string, Promise<Output>>());
  const kept = useRef(keyOf);
  const { mutateAsync: start, reset: startAnew } = mutation;
  const mutateAsync = useCallback<Start>(
    (...args) => {
      const key = kept.current(args[0] as Input); // an input is absent only if its type is void
      const before = underWay.current.get(key);
      if (before) return before;
      const begun = start(...args);
      const release = () => {
        if (underWay.current.get(key) === begun) underWay.current.delete(key);
      };
      underWay.current.set(key, begun);
      begun.then(release, release);
      return begun;
    },
    [start],
  );
  const mutate = useCallback<typeof mutation.mutate>(
    (...args) => void mutateAsync(...args).catch(() => undefined), // the mutation itself reports the error
    [mutateAsync],
  );
  const reset = useCallback(() => {
    underWay.current.clear();
    startAnew();
  }, [startAnew]);
  return { ...mutation, mutate, mutateAsync, reset };
}
