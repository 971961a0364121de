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
 * A mutation that runs once however often it is called while in flight: a second click may arrive before its button is
 * disabled. `reset` stops waiting for the one in flight.
 */
export function useMutation<Output = unknown, Failure = Error, Input = void, Context = unknown>(
  options: UseMutationOptions<Output, Failure, Input, Context>,
): Result<Output, Failure, Input, Context> {
  return useOnce(useLibraryMutation(options), () => "");
}

/** A mutation whose calls may run in parallel, one per list row; calls with the same input run once. */
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
    (...args) => void mutateAsync(...args).catch(() => undefined), // the mutation's own error reports it
    [mutateAsync],
  );
  const reset = useCallback(() => {
    underWay.current.clear();
    startAnew();
  }, [startAnew]);
  return { ...mutation, mutate, mutateAsync, reset };
}
