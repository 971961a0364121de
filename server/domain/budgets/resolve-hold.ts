import type { HoldView, ResolveHold } from "@/server/contract/budgets";
import { inTransaction, pool } from "@/server/db";
import { access, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { signCorrection } from "@/server/domain/signing";
import { fail } from "@/server/errors";
import { newId, receiptIdOf } from "@/server/ids";
import type { Micros } from "@/server/money";
import { type HoldRow, toHold } from "./holds";
import { type Posting, postingsOf } from "./postings";
import { accountOf, type Funding, resolved } from "./reserve";

type Ambiguous = HoldRow & {
  funding: Funding;
  provider: string | null;
  fee_bps: number | null;
  pinned_id: string | null;
  /** Another id than the execution's: its comparison, which is not judged. */
  line_id: string | null;
};

/**
 * Ends a hold whose execution may or may not have been charged, as a person found out: charged this much in all, or
 * nothing. For owners of the organization and operators, never for a key, and not before its comparison is judged. The receipt stays as it was sealed; budgets,
 * wallet and ledger follow, and beside a pinned record a correction. HoldNotAmbiguous where there is nothing to find out (any more).
 */
export async function resolveHold(ctx: Ctx, holdId: string, found: ResolveHold): Promise<HoldView> {
  const hold = await find(ctx, holdId);
  const foundMicros = found.chargedMicros ?? 0;
  // A managed customer is charged at most what was held.
  const charged = hold.billing_mode === "managed" ? Math.min(foundMicros, hold.amount_micros) : foundMicros;
  const now = ctx.now();
  const corrections = await correctionsOf(hold, charged, now);
  return inTransaction(async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `WITH ended AS (
         UPDATE hold SET state = $2::text, settled_micros = $3, resolved_at = $4, resolved_by = $5, note = $6
         WHERE id = $1 AND state = 'ambiguous' RETURNING *
       ), posted AS (
         INSERT INTO ledger_entry (transaction_id, organization_id, project_id, job_id, hold_id, account, amount_micros, kind,
           pricing_version, is_test, created_at)
         SELECT $7, ended.organization_id, ended.project_id, ended.execution_id, ended.id, posting.account, posting.amount_micros,
           posting.kind, execution.pricing_version, ended.is_test, $4
         FROM ended LEFT JOIN execution ON execution.id = ended.execution_id,
           jsonb_to_recordset($8::jsonb) AS posting(account text, amount_micros bigint, kind text)
       ), corrected AS (
         INSERT INTO pinned_correction (id, project_id, pinned_id, kind, details, signature, key_id, created_by, created_at)
         SELECT x.id, ended.project_id, ended.execution_id, x.kind, x.details, x.signature, x.key_id, $5, $4
         FROM ended, jsonb_to_recordset($9::jsonb) AS x(id text, kind text, details jsonb, signature text, key_id text)
       )
       SELECT id, ${resolved("ended", "$4::timestamptz")} FROM ended`,
      [
        hold.id,
        charged > 0 ? "settled" : "released",
        charged > 0 ? charged : null,
        now,
        ctx.principal.id,
        found.note,
        newId("transaction"),
        JSON.stringify(entriesOf(hold, foundMicros)),
        JSON.stringify(corrections),
      ],
    );
    // Somebody else was first.
    if (rows.length === 0) notAmbiguous((await find(ctx, holdId)).state);
    await record(
      ctx,
      {
        organizationId: hold.organization_id,
        projectId: hold.project_id,
        action: "hold.resolved",
        subject: hold.id,
        details: { executionId: hold.execution_id, chargedMicros: charged, note: found.note },
      },
      client,
    );
    const after = await client.query<HoldRow>(READ, [hold.id]);
    return toHold(after.rows[0]!); // updated above, and holds are never deleted
  });
}

const READ = `SELECT hold.*, execution.capability_key, execution.status, execution.provider,
  execution.fee_bps, execution.pinned_id, execution.line_id
  FROM hold LEFT JOIN execution ON execution.id = hold.execution_id WHERE hold.id = $1`;

async function find(ctx: Ctx, holdId: string): Promise<Ambiguous> {
  const { rows } = await pool.query<Ambiguous>(READ, [holdId]);
  const [row] = rows;
  if (!row || !roleIn(ctx, row.organization_id)) return fail("NotFound", "There is no such hold.");
  access.authorize(ctx, "owner", { organizationId: row.organization_id });
  if (row.line_id !== null && row.line_id !== row.execution_id)
    fail("ComparisonUnjudged", "This hold belongs to a comparison. Judge the comparison first.", {
      comparisonId: row.line_id,
    });
  if (row.state !== "ambiguous") notAmbiguous(row.state);
  return row;
}

function notAmbiguous(state: string): never {
  fail(
    "HoldNotAmbiguous",
    state === "open"
      ? "The execution is still running and settles or releases this hold automatically when it ends."
      : `This hold is already ${state}.`,
    { state },
  );
}

/** What is added beside the record of a pinned execution. The note is not: a record goes to more people than a hold. */
async function correctionsOf(hold: Ambiguous, chargedMicros: Micros, now: Date) {
  if (hold.pinned_id === null) return [];
  const shown = {
    correctionId: newId("correction"),
    receiptId: receiptIdOf(hold.pinned_id),
    kind: "charge_resolved" as const,
    details: { holdId: hold.id, holdState: chargedMicros > 0 ? "settled" : "released", chargedMicros },
    createdAt: now.toISOString(),
  };
  const { keyId, signature } = await signCorrection(shown);
  return [{ id: shown.correctionId, kind: shown.kind, details: shown.details, signature, key_id: keyId }];
}

/** As an execution's own end has them: the fee is part of what is charged, at the rate of its estimate. */
function entriesOf(hold: Ambiguous, foundMicros: Micros): Posting[] {
  const upstream = Math.round((foundMicros * 10_000) / (10_000 + (hold.fee_bps ?? 0)));
  const fee = foundMicros - upstream;
  // The operator takes no fee on what the customer does not pay.
  const isManaged = hold.billing_mode === "managed";
  return postingsOf({
    payer: accountOf(hold.organization_id, hold.funding),
    billingMode: hold.billing_mode,
    heldMicros: hold.amount_micros,
    upstream: [[hold.provider ?? "unknown", upstream]],
    feeMicros: isManaged ? Math.min(fee, Math.max(0, hold.amount_micros - upstream)) : fee,
  });
}
