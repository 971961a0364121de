import { type Fetched, FetchFault, type FetchRequest, fetchPublic } from "@/server/platform/http";
import { SourceFault, type SourceIo } from "./define";

/** Limit of bytes that one lookup may transfer, all requests together. */
export const MOST_BYTES = 1_000_000;

export type BudgetedFetch = (
  request: Omit<FetchRequest, "maxBytes"> & { maxBytes?: number },
) => Promise<Fetched>;

/**
 * Returns a fetch whose calls share one budget of bytes. The fetch turns a FetchFault into a SourceFault, except `too_large`
 * and `range`, which its caller judges.
 */
export function budgeted({ rules }: Pick<SourceIo, "rules">): BudgetedFetch {
  let left = MOST_BYTES;
  return async (request) => {
    const maxBytes = Math.min(request.maxBytes ?? left, left);
    try {
      const fetched = await fetchPublic({ ...request, maxBytes }, rules);
      left -= fetched.bytes.byteLength;
      return fetched;
    } catch (cause) {
      if (cause instanceof FetchFault && cause.reason === "too_large") left -= maxBytes; // at most this much was transferred
      if (!(cause instanceof FetchFault) || cause.reason === "too_large" || cause.reason === "range")
        throw cause;
      throw new SourceFault(cause.isPassing ? "unavailable" : "refused", cause.message);
    }
  };
}
