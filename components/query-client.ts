import { QueryClient, type QueryClientConfig } from "@tanstack/react-query";

/**
 * The query client of one render on the server, or of the browser. What was read stays fresh for a moment, so hydration asks
 * nothing twice. Without a network everything fails at once: what would be kept for later would be done after somebody gave
 * it up.
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
