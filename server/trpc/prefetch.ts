import { dehydrate, type QueryClient } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { makeQueryClient } from "@/components/data/query-client";
import { findPerson, panelCtx } from "@/server/auth/session";
import { askedBy } from "@/server/domain/sessions";
import { type AppRouter, appRouter } from "./index";

type Reader = { queryClient: QueryClient; trpc: TRPCOptionsProxy<AppRouter> };

/** One client per request, so that the parts of a page share what they have read. */
const reader = cache((): Reader => {
  const queryClient = makeQueryClient();
  return {
    queryClient,
    trpc: createTRPCOptionsProxy<AppRouter>({ ctx: panelCtx, router: appRouter, queryClient }),
  };
});

/**
 * Reads data for a page on the server, through the same procedures that the browser uses. Data that the reader may not see
 * leads to the same not-found page as data that does not exist; an ended session leads to sign-in.
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
 * Shows the not-found page. A person whose organization requires a second factor is sent to set it up
 * instead, because the page may exist once they have one.
 */
export async function missing(): Promise<never> {
  const person = await findPerson();
  return person && askedBy({ principal: person }).length > 0 ? redirect("/account") : notFound();
}

/** The data read for this page, for the browser's client to hydrate. */
export function panelState() {
  return dehydrate(reader().queryClient);
}
