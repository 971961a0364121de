"use client";
import {
  isServer,
  MutationCache,
  QueryCache,
  type QueryClient,
  QueryClientProvider,
  useSuspenseQuery,
} from "@tanstack/react-query";
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import type { AppRouter } from "@/server/trpc";
import { reportAnswered } from "./connection/connection";
import { ConnectionNotice } from "./connection/connection-notice";
import { type FieldIssue, inWords } from "./field-issue";
import { makeQueryClient } from "./query-client";
import { FreshOnReturn } from "./shell/fresh-on-return";
import { UnsavedGuard } from "./unsaved/unsaved-guard";
import { signInBeside } from "./unsaved/unsaved-work";

export type { FieldIssue };

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** A project the reader may open. */
export type ProjectChoice = inferRouterOutputs<AppRouter>["projects"]["list"][number];

/** What the reader is in a project; who is more than a viewer may run and write there. */
export function useRole(projectId: string) {
  const { data: projects } = useSuspenseQuery(useTRPC().projects.list.queryOptions());
  const role = projects.find((project) => project.projectId === projectId)?.role;
  return { role, mayWrite: role !== undefined && role !== "viewer" };
}

/** What the panel knows of a failure: a sentence, our code if the product refused, the id of the request. */
export type Failure = {
  message: string;
  code: string | null;
  requestId: string | null;
  isSignedOut: boolean;
  /** What our code says beside the sentence. */
  details: Record<string, unknown>;
  /** What is wrong with which field of the request. */
  issues: FieldIssue[];
};

export function toFailure(error: unknown): Failure {
  if (error instanceof TRPCClientError) {
    const data = error.data as Partial<{
      code: string;
      requestId: string;
      fault: { code: string; details: Record<string, unknown> } | null;
      issues: FieldIssue[] | null;
    }> | null; // our errorFormatter's shape; absent when the network failed
    return {
      message: data ? error.message : "The server could not be reached.",
      code: data?.fault?.code ?? null,
      requestId: data?.requestId ?? null,
      isSignedOut: data?.code === "UNAUTHORIZED",
      details: data?.fault?.details ?? {},
      issues: (data?.issues ?? []).map(inWords),
    };
  }
  return {
    message: "Something went wrong on this page.",
    code: null,
    requestId: null,
    isSignedOut: false,
    details: {},
    issues: [],
  };
}

/** Did the server not answer at all? An answer of the product, a refusal too, has our errorFormatter's shape. */
export const isUnanswered = (error: unknown) => error instanceof TRPCClientError && !error.data;

/** What is wrong, without the paths of the fields: for where they are seen, or few. */
export function sentencesOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  return issues.length > 0 ? [...new Set(issues.map(({ msg }) => msg))].join(" ") : message;
}

/**
 * A session that ended elsewhere sends the reader to sign in, and back here afterwards; beside this page, where something is
 * typed on it. `isAct`: it was something they did that found it ended.
 */
function leaveIfSignedOut(error: unknown, { isAct }: { isAct: boolean }) {
  if (!toFailure(error).isSignedOut || signInBeside({ isAct })) return;
  const here = window.location.pathname + window.location.search;
  window.location.assign(`/sign-in?${new URLSearchParams({ callbackUrl: here, reason: "ended" })}`);
}

const ALONE = new Set([
  "catalog.invoke",
  "catalog.submit",
  "catalog.quote",
  "comparisons.create",
  "comparisons.estimate",
  "pinned.run",
]);

let browserClient: QueryClient | undefined;

function queryClientHere(): QueryClient {
  if (isServer) return makeQueryClient(); // one per request
  browserClient ??= makeQueryClient({
    queryCache: new QueryCache({
      onSuccess: () => reportAnswered(true),
      onError(error) {
        reportAnswered(!isUnanswered(error));
        leaveIfSignedOut(error, { isAct: false });
      },
    }),
    mutationCache: new MutationCache({
      onError(error, _input, _result, mutation) {
        if (isUnanswered(error)) reportAnswered(false);
        leaveIfSignedOut(error, { isAct: true });
        if (mutation.meta?.isShownInPlace) return; // the form says it beside the fields
        const failure = toFailure(error);
        toast.error(failure.message, {
          description: failure.requestId ? `Request ${failure.requestId}` : undefined,
        });
      },
    }),
  });
  return browserClient;
}

export function PanelData({ children }: { children: ReactNode }) {
  const queryClient = queryClientHere();
  const [trpcClient] = useState(() =>
    createTRPCClient<AppRouter>({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({ url: "/api/trpc" }),
          false: splitLink({
            // What may take a minute, and what carries files, goes by itself: nothing else waits for it.
            condition: ({ path }) => ALONE.has(path),
            true: httpLink({ url: "/api/trpc" }),
            false: httpBatchLink({ url: "/api/trpc", maxURLLength: 4000 }),
          }),
        }),
      ],
    }),
  );
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
        <UnsavedGuard />
        <ConnectionNotice />
        <FreshOnReturn />
      </TRPCProvider>
    </QueryClientProvider>
  );
}
