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
import { UNREACHABLE } from "@/components/unreachable";
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

/** The reader's role in a project; anyone above viewer may run and write there. */
export function useRole(projectId: string) {
  const { data: projects } = useSuspenseQuery(useTRPC().projects.list.queryOptions());
  const role = projects.find((project) => project.projectId === projectId)?.role;
  return { role, mayWrite: role !== undefined && role !== "viewer" };
}

/** A failure as the panel shows it: a sentence, our error code if the product refused, and the request id. */
export type Failure = {
  message: string;
  code: string | null;
  requestId: string | null;
  isSignedOut: boolean;
  /** The error's details. */
  details: Record<string, unknown>;
  /** Issues by request field. */
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
      message: data ? error.message : UNREACHABLE,
      code: data?.fault?.code ?? null,
      requestId: data?.requestId ?? null,
      isSignedOut: data?.code === "UNAUTHORIZED",
      details: data?.fault?.details ?? {},
      issues: (data?.issues ?? []).map(inWords),
    };
  }
  return {
    message: "Something went wrong on this page. Reload it and try again.",
    code: null,
    requestId: null,
    isSignedOut: false,
    details: {},
    issues: [],
  };
}

/** Whether the server did not answer at all. Any answer, including a refusal, has our errorFormatter's shape. */
export const isUnanswered = (error: unknown) => error instanceof TRPCClientError && !error.data;

/** The issues without their field paths, for forms where the fields are visible. */
export function sentencesOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  return issues.length > 0 ? [...new Set(issues.map(({ msg }) => msg))].join(" ") : message;
}

/**
 * When the session has ended, sends the reader to sign in and back here afterwards; in another tab where this page has
 * unsaved input. `isAct`: something the reader did found the session ended.
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
        if (mutation.meta?.isShownInPlace) return; // the form shows it beside the fields
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
            // Slow requests and file uploads are not batched, so nothing else waits for them.
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
