"use client";
import {
  hashKey,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation as useLibraryMutation,
} from "@tanstack/react-query";
import { useCallback, useRef } from "react";

type Result<Output, Failure, Input, Context> = UseMutationResult<Output, Failure, Input, Context>;

/**
 * A mutation that is done once however often it is asked for while it is under way: a second click may come before its button
 * is drawn as disabled. `reset` gives up waiting for the one under way.
 */
export function useMutation<Output = unknown, Failure = Error, Input = void, Context = unknown>(
  options: UseMutationOptions<Output, Failure, Input, Context>,
): Result<Output, Failure, Input, Context> {
  return useOnce(useLibraryMutation(options), () => "");
}

/** One whose calls may run side by side, as those of the rows of a list; with the same input it is done once. */
export function useMutationPerInput<Output = unknown, Failure = Error, Input = void, Context = unknown>(
  options: UseMutationOptions<Output, Failure, Input, Context>,
): Result<Output, Failure, Input, Context> {
  return useOnce(useLibraryMutation(options), (input) => hashKey([input]));
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
      const key = kept.current(args[0] as Input); // absent only where the input is void
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
    (...args) => void mutateAsync(...args).catch(() => undefined), // it is told by the mutation's own error
    [mutateAsync],
  );
  const reset = useCallback(() => {
    underWay.current.clear();
    startAnew();
  }, [startAnew]);
  return { ...mutation, mutate, mutateAsync, reset };
}
