import { dehydrate, type QueryClient } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { makeQueryClient } from "@/components/query-client";
import { findPerson, panelCtx } from "@/server/auth/session";
import { askedBy } from "@/server/domain/sessions";
import { type AppRouter, appRouter } from "./index";

type Reader = { queryClient: QueryClient; trpc: TRPCOptionsProxy<AppRouter> };

/** One client per request: what one page part has read, another does not read again. */
const reader = cache((): Reader => {
  const queryClient = makeQueryClient();
  return {
    queryClient,
    trpc: createTRPCOptionsProxy<AppRouter>({ ctx: panelCtx, router: appRouter, queryClient }),
  };
});

/**
 * Reads for a page, on the server, through the same procedures the browser uses. What the reader may not see
 * is the not-found page, the same one as for what does not exist; a session that just ended leads to sign-in.
 */
export async function panelRead<T>(read: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await read(reader());
  } catch (error) {
    if (error instanceof TRPCError) {
      if (error.code === "NOT_FOUND" || error.code === "FORBIDDEN" || error.code === "BAD_REQUEST")
        return await missing();
      if (error.code === "UNAUTHORIZED") redirect("/sign-in?reason=ended");
    }
    throw error;
  }
}

/**
 * The not-found page. Who owes an organization a second factor is led to set it up instead: what they look for may well be
 * there, once they have one.
 */
export async function missing(): Promise<never> {
  const person = await findPerson();
  return person && askedBy({ principal: person }).length > 0 ? redirect("/account") : notFound();
}

/** What has been read for this page, as the browser's client takes it over. */
export function panelState() {
  return dehydrate(reader().queryClient);
}
