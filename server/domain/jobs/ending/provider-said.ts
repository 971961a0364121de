import type { JobError } from "@/server/contract/jobs";
import { toKept } from "@/server/domain/content";
import type { ProviderSaid } from "@/server/domain/executions";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { expiryOf, isSealedOf, type JobRow, type PayloadRow, parseContent } from "../rows";
import type { StoredAnswer } from "../transitions/answer";

/*
 * What a provider answered to a job that failed: `details.provider` of its error. The vendor's message may quote the request,
 * so everything is content: a payload that is encrypted and removed as the request is, and no part of receipts, events,
 * deliveries, lists or the log.
 */

/** The payload that keeps it. */
export function toPayload(
  job: Pick<JobRow, "data_classification" | "retention_requirement" | "content_kept_ms">,
  said: ProviderSaid,
  now: Date,
): NonNullable<StoredAnswer["output"]> {
  return { kind: "native", ...toKept(canonicalText(said), isSealedOf(job), expiryOf(job, now)) };
}

/** As it was kept; null: nothing was, or it was removed. */
export function keptSaid(payloads: PayloadRow[]): ProviderSaid | null {
  const kept = parseContent(payloads.find(({ kind }) => kind === "native"));
  return kept as ProviderSaid | null; // written by `toPayload`
}

/** The error of a job without the vendor's own message, for a reader who has not asked for private content. */
export function withoutVendorWords(error: JobError | null): JobError | null {
  const details = error?.details as Json | undefined; // plain data
  if (!error || !isObject(details) || !isObject(details.provider)) return error;
  const { message: _, ...provider } = details.provider;
  return { ...error, details: { ...details, provider } };
}
