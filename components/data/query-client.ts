import { QueryClient, type QueryClientConfig } from "@tanstack/react-query";

/**
 * The query client of one server render, or of the browser. Data stays fresh for a moment, so that hydration fetches nothing
 * twice. Without a network everything fails immediately, because a queued mutation would run after its user had given up on
 * it.
 */
export function makeQueryClient(caches: Pick<QueryClientConfig, "queryCache" | "mutationCache"> = {}) {
  return new QueryClient({
    ...caches,
    defaultOptions: {
      queries: { staleTime: 10_000, retry: 1, networkMode: "always", refetchOnReconnect: true },
      mutations: { networkMode: "always" },
    },
  });
}
