import { type CapabilityRequestBody, REQUEST_VERSION } from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { capabilityRequestRevision } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { statement } from "@/server/sql/statement";
import type { RequestRow, RevisionRow } from "./rows";

/** Most bytes of one wording, whichever endpoint it comes through. */
export const MOST_CONTENT_BYTES = 256 * 1024;

/** A frozen wording and its hash. */
type FrozenContent = { body: RevisionRow["body"]; hash: string };

/**
 * The frozen part of a body: all members, even the caller's own, except the idempotency key and top-level
 * members that are null. The hash is of its RFC 8785 form, so the order of members, white space and the
 * spelling of numbers and strings do not matter.
 */
export function freezeContent({ idempotencyKey: _, ...wording }: CapabilityRequestBody): FrozenContent {
  const sent = Object.entries(wording as Record<string, Json>).filter(([, value]) => value != null);
  const body: RevisionRow["body"] = { ...Object.fromEntries(sent), schemaVersion: REQUEST_VERSION };
  const text = canonicalText(body);
  if (Buffer.byteLength(text) > MOST_CONTENT_BYTES)
    fail(
      "PayloadTooLarge",
      `The request is larger than the limit of ${MOST_CONTENT_BYTES} bytes. Shorten it.`,
      {
        maxBytes: MOST_CONTENT_BYTES,
      },
    );
  return { body, hash: sha256Hex(text) };
}

const addRevision = statement("capability_request_revision.insert", {
  params: capabilityRequestRevision,
  sql: `INSERT INTO capability_request_revision (id, request_id, organization_id, number, body, hash, created_by,
       created_by_kind, created_at)
     VALUES ($id, $request_id, $organization_id, $number, $body, $hash, $created_by, $created_by_kind, $created_at)`,
});

/** Stores the current wording of a request, whose row must be locked or new in this transaction. */
export async function insertRevision(
  client: Queryable,
  ctx: Ctx,
  row: Pick<RequestRow, "id" | "organization_id" | "current_revision_id">,
  { number, body, hash }: FrozenContent & { number: number },
): Promise<void> {
  await addRevision.run(client, {
    id: row.current_revision_id,
    request_id: row.id,
    organization_id: row.organization_id,
    number,
    body,
    hash,
    created_by: ctx.principal.id,
    created_by_kind: ctx.principal.kind,
    created_at: ctx.now(),
  });
}
