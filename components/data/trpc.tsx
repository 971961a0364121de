"use client";
import { TRPCClientError } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import type { AppRouter } from "@/server/trpc";
import type { FieldIssue } from "./field-issue";
import { UNREACHABLE } from "./unreachable";

export type { FieldIssue };

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** A project the reader may open. */
export type ProjectChoice = inferRouterOutputs<AppRouter>["projects"]["list"][number];

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
      issues: data?.issues ?? [],
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

/** True if the server did not respond at all. Any response, even an error, has our errorFormatter's shape. */
export const isUnanswered = (error: unknown) => error instanceof TRPCClientError && !error.data;

/** An error's issues without their field paths, for forms where the fields are visible; its message if it has no issues. */
export function sentencesOf(error: unknown): string {
  const { issues, message } = toFailure(error);
  return issues.length > 0 ? [...new Set(issues.map(({ msg }) => msg))].join(" ") : message;
}
