import { canonicalText, sha256Hex } from "@/server/canonical";
import { isKeptSealed } from "@/server/content";
import { isPrivate } from "@/server/contract/envelope";
import type { JobError } from "@/server/contract/jobs";
import type { ProviderSaid } from "@/server/domain/executions";
import { newId } from "@/server/ids";
import type { Json } from "@/server/step";
import { isObject } from "./prompt";
import { expiryOf } from "./retention";
import { type JobRow, type PayloadRow, parseContent } from "./rows";
import type { StoredAnswer } from "./transitions/answer";

/*
 * What a provider answered to a job that failed: `details.provider` of its error. The vendor's message may quote the request,
 * so all of it is content: a payload that is encrypted and removed as the request is, and no part of receipts, events,
 * deliveries, lists or the log.
 */

/** The payload that keeps it. */
export function toPayload(
  job: Pick<JobRow, "data_classification" | "retention_requirement" | "content_kept_ms">,
  said: ProviderSaid,
  now: Date,
): NonNullable<StoredAnswer["output"]> {
  const content = canonicalText(said);
  return {
    kind: "native",
    id: newId("payload"),
    content,
    sha256: sha256Hex(content),
    byte_length: Buffer.byteLength(content),
    is_sealed: isKeptSealed(job.data_classification, job.retention_requirement),
    expires_at: expiryOf(job, now),
  };
}

/** As it was kept; null: nothing was, or it was removed. */
export function keptSaid(payloads: PayloadRow[]): ProviderSaid | null {
  const kept = parseContent(payloads.find(({ kind }) => kind === "native"));
  return kept as ProviderSaid | null; // written by `toPayload`
}

/** What an error tells its caller unasked: of private words nothing, and of the account's affairs nothing to its users' users. */
export function saidUnasked(
  job: Pick<JobRow, "principal_kind" | "data_classification">,
  said: ProviderSaid | null | undefined,
): ProviderSaid | null {
  if (!said || job.principal_kind === "panel_session") return null;
  if (!isPrivate(job.data_classification)) return said;
  const { message: _, ...rest } = said;
  return rest;
}

/** The details of an error with what the provider answered; nothing where there is nothing to tell. */
export function withSaid(
  details: Record<string, Json> | undefined,
  said: ProviderSaid | null,
): { details?: Record<string, Json> } {
  const whole = { ...details, ...(said ? { provider: said } : {}) };
  return Object.keys(whole).length > 0 ? { details: whole } : {};
}

/** The error of a job without the vendor's own message, for a reader who has not asked for private content. */
export function withoutVendorWords(error: JobError | null): JobError | null {
  const details = error?.details as Json | undefined; // plain data
  if (!error || !isObject(details) || !isObject(details.provider)) return error;
  const { message: _, ...provider } = details.provider;
  return { ...error, details: { ...details, provider } };
}
