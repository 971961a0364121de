import { fail } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";

/** Uploads in progress in this process, by organization. */
const underWay = new Map<string, number>();
const RETRY_AFTER_SECONDS = 10;

/**
 * Counts an upload until the returned function is called. RateLimited (429) if the organization or the
 * process is at its limit: each upload holds a connection, pieces of its file and, for a while, a header.
 */
export function beginUpload(organizationId: string): () => void {
  const own = underWay.get(organizationId) ?? 0;
  const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
  if (own >= env.ADAPTER_UPLOADS_PER_ORGANIZATION || all >= env.ADAPTER_UPLOADS_AT_ONCE) {
    const whose = own >= env.ADAPTER_UPLOADS_PER_ORGANIZATION ? "this organization" : "this server";
    fail(
      "RateLimited",
      `${whose === "this server" ? "This server" : "This organization"} already has ${whose === "this server" ? all : own} uploads in progress. Try again soon.`,
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }
  underWay.set(organizationId, own + 1);
  return () => {
    const left = (underWay.get(organizationId) ?? 1) - 1;
    if (left === 0) underWay.delete(organizationId);
    else underWay.set(organizationId, left);
  };
}
