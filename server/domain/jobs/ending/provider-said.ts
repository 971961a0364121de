import type { JobError } from "@/server/contract/jobs";
import { toContentRow } from "@/server/domain/content";
import type { ProviderMessage } from "@/server/domain/executions";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { expiryOf, isSealedOf, type JobRow, type PayloadRow, parseContent } from "../rows";
import type { StoredAnswer } from "../transitions/answer";

/*
 * The answer of a provider to a job that failed: `details.provider` of its error. The vendor's message may
 * quote the request, so the whole answer is content: a payload that is encrypted and removed like the
 * request, and that no receipt, event, delivery, list or log contains.
 */

export function toPayload(
  job: Pick<JobRow, "data_classification" | "retention_requirement" | "content_kept_ms">,
  said: ProviderMessage,
  now: Date,
): NonNullable<StoredAnswer["output"]> {
  return { kind: "native", ...toContentRow(canonicalText(said), isSealedOf(job), expiryOf(job, now)) };
}

/** Null if no answer was kept, or if it was removed. */
export function keptSaid(payloads: PayloadRow[]): ProviderMessage | null {
  const kept = parseContent(payloads.find(({ kind }) => kind === "native"));
  return kept as ProviderMessage | null; // written by `toPayload`
}

/** Removes the vendor's own message from a job's error, for a reader who did not request private content. */
export function withoutVendorWords(error: JobError | null): JobError | null {
  const details = error?.details as Json | undefined; // plain data
  if (!error || !isObject(details) || !isObject(details.provider)) return error;
  const { message: _, ...provider } = details.provider;
  return { ...error, details: { ...details, provider } };
}
