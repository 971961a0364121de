import type { CapabilityRequest, CapabilityRequestBody } from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { capabilityRequestRevision } from "@/server/generated/schema";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { freezeContent, insertRevision } from "./content";
import { endActiveQuote } from "./quotes";
import { type RequestRow, readWithRevision, requireWriter, toRequest } from "./rows";
import { applyMove, lockRequest, requireMove } from "./transitions";

/** Every revision is kept whole, and shown to the reviewer of the request. */
const MOST_REVISIONS = 50;

/**
 * Rewords a request that no one has paid for: it becomes a draft again, and a quote of the old wording can no
 * longer be paid. Even an unchanged wording is a new revision.
 */
export async function revise(
  ctx: Ctx,
  requestId: string,
  body: CapabilityRequestBody,
): Promise<CapabilityRequest> {
  await requireWriter(ctx, requestId);
  const content = freezeContent(body);
  return changed(requestId, async (client, row) => {
    if (body.projectId && body.projectId !== row.project_id) {
      const msg = "A revision must be in the same project as its request.";
      throw new ValidationFault([{ loc: ["body", "projectId"], msg, type: "value_error" }]);
    }
    requireMove(row, "revised");
    const next = { ...row, current_revision_id: newId("requestRevision") };
    await insertRevision(client, ctx, next, { number: await nextNumber(client, row), ...content });
    const quoteId = await endActiveQuote(client, ctx, row.id);
    await applyMove(client, ctx, row, {
      how: "revised",
      change: { current_revision_id: next.current_revision_id, submitted_at: null },
      payload: quoteId ? { supersededQuoteId: quoteId } : {},
    });
  });
}

const lastRevision = statement("capability_request_revision.read.last_number", {
  params: { requestId: text },
  row: pick(capabilityRequestRevision, "number"),
  sql: `SELECT number FROM capability_request_revision WHERE request_id = $requestId ORDER BY number DESC LIMIT 1`,
});

async function nextNumber(client: Transaction, row: RequestRow): Promise<number> {
  const last = await lastRevision.first(client, { requestId: row.id });
  const number = (last?.number ?? 0) + 1;
  if (number > MOST_REVISIONS) {
    fail("PolicyRejected", `A request can have at most ${MOST_REVISIONS} revisions. File a new request.`, {
      mostRevisions: MOST_REVISIONS,
    });
  }
  return number;
}

/** Submits the current wording to the operators. A submitted request is returned unchanged. */
export async function submit(ctx: Ctx, requestId: string): Promise<CapabilityRequest> {
  await requireWriter(ctx, requestId);
  return changed(requestId, async (client, row) => {
    if (row.status === "submitted") return;
    await applyMove(client, ctx, row, { how: "submitted", change: { submitted_at: ctx.now() } });
  });
}

/** Locks a request, changes it in one transaction, and returns the result. */
export function changed(
  requestId: string,
  work: (client: Transaction, row: RequestRow) => Promise<void>,
): Promise<CapabilityRequest> {
  return inTransaction(async (client) => {
    await work(client, await lockRequest(client, requestId));
    return toRequest(await readWithRevision(client, requestId));
  });
}
