import type { HoldView } from "@/server/contract/budgets";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { signCorrection } from "@/server/domain/signing";
import { announce } from "@/server/domain/webhooks";
import { ledgerTransaction, pinnedHold } from "@/server/generated/schema";
import { inTransaction, type Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId, receiptIdOf } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import {
  column,
  int4,
  int8,
  jsonb,
  maybe,
  type Of,
  present,
  type Shape,
  text,
  timestamptz,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { RESOLUTION_COLUMNS, resolved } from "./hold-columns";
import { HOLD } from "./holds";
import { type Posting, postingsOf } from "./postings";
import { type Funding, ledgerAccount } from "./reserve";

const EXECUTION_HOLD = {
  ...HOLD,
  funding: maybe(column<NonNullable<Funding>>("text")),
  capability_key: maybe(text),
  status: maybe(text),
  provider: maybe(text),
  fee_bps: maybe(int4),
  pinned_id: maybe(text),
  /** Id of the execution, or of its comparison until that is judged. */
  line_id: maybe(text),
};
/** A hold with the columns of its execution that a resolution needs. */
export type ExecutionHold = Of<typeof EXECUTION_HOLD>;

/** The charge of an execution, as it became known after the end. */
export type LateCharge = {
  by: NonNullable<HoldView["resolution"]>;
  /** Cost of each provider's work at list price. */
  upstream: [provider: string, micros: Micros][];
  feeMicros: Micros;
  /** Additional ledger entries that concern the operator only. */
  exposure?: Posting[];
  note: string | null;
  /** Maximum of the organization's live write-offs since that time, including this one. */
  limit?: { micros: Micros; since: Date };
};

/** Selects holds by a condition on `hold` and `execution`. */
export const holdsBy = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params,
    row: EXECUTION_HOLD,
    sql: `SELECT hold.*, execution.capability_key, execution.status, execution.provider,
  execution.fee_bps, execution.pinned_id, execution.line_id
  FROM hold LEFT JOIN execution ON execution.id = hold.execution_id WHERE ${condition}`,
  });

export const readAmbiguous = holdsBy(
  "hold.read.ambiguous",
  { executionId: text },
  "hold.execution_id = $executionId AND hold.state = 'ambiguous'",
);

export const readHold = holdsBy("hold.read", { executionId: text }, "hold.execution_id = $executionId");

const storeResolution = statement("hold.update.resolved", {
  params: {
    executionId: text,
    state: pinnedHold.state,
    settledMicros: pinnedHold.settled_micros,
    now: timestamptz,
    resolvedBy: pinnedHold.resolved_by,
    note: pinnedHold.note,
    transactionId: ledgerTransaction.transaction_id,
    postings: jsonb<Json>(),
    corrections: jsonb<Json>(),
    resolution: pinnedHold.resolution,
  },
  row: {
    id: present(text, "made from the id of its execution"),
    capstan_resolve: column<unknown>("void", true),
  },
  sql: `WITH of_job AS (
         UPDATE job SET hold_state = $state::text, hold_settled_micros = $settledMicros, hold_resolved_at = $now,
           hold_resolved_by = $resolvedBy, hold_note = $note, hold_resolution = $resolution
         WHERE id = $executionId AND hold_state = 'ambiguous'
         RETURNING capstan_hold_id(id) AS id, id AS execution_id, ${RESOLUTION_COLUMNS.job}
       ), of_pin AS (
         UPDATE pinned_hold SET state = $state::text, settled_micros = $settledMicros, resolved_at = $now,
           resolved_by = $resolvedBy, note = $note, resolution = $resolution
         WHERE execution_id = $executionId AND state = 'ambiguous'
         RETURNING id, execution_id, ${RESOLUTION_COLUMNS.pinned}
       ), ended AS (
         SELECT * FROM of_job UNION ALL SELECT * FROM of_pin
       ), posted AS (
         INSERT INTO ledger_transaction (transaction_id, organization_id, project_id, job_id, hold_id, account, postings,
           pricing_version, is_test, created_at)
         SELECT $transactionId, ended.organization_id, ended.project_id, ended.execution_id, ended.id, $postings::jsonb->0->>'account', $postings::jsonb,
           execution.pricing_version, ended.is_test, $now
         FROM ended LEFT JOIN execution ON execution.id = ended.execution_id
         WHERE jsonb_array_length($postings::jsonb) > 0
       ), corrected AS (
         INSERT INTO pinned_correction (id, project_id, pinned_id, kind, details, signature, key_id, created_by, created_at)
         SELECT x.id, ended.project_id, ended.execution_id, x.kind, x.details, x.signature, x.key_id, $resolvedBy, $now
         FROM ended, jsonb_to_recordset($corrections::jsonb) AS x(id text, kind text, details jsonb, signature text, key_id text)
       )
       SELECT id, ${resolved("ended", "$now::timestamptz")} FROM ended`,
});

/**
 * Ends an ambiguous hold once its charge is known: from a person, a late answer, a second query to the
 * provider, a worker that had sent nothing, or a write-off. One statement updates hold, budgets, wallet and
 * ledger and adds a signed correction to a pinned record; the sealed receipt stays unchanged. A managed
 * customer is charged at most the hold. Returns null and writes nothing if the hold is not ambiguous or a
 * write-off would exceed its limit.
 */
export async function resolve(
  ctx: Ctx,
  hold: ExecutionHold,
  found: LateCharge,
): Promise<ExecutionHold | null> {
  const { by, note } = found;
  const now = ctx.now();
  const whole = found.upstream.reduce((sum, [, micros]) => sum + micros, found.feeMicros);
  const charged = hold.billing_mode === "managed" ? Math.min(whole, hold.amount_micros) : whole;
  const postings = [
    ...postingsOf({
      payer: ledgerAccount(hold.organization_id, hold.funding),
      billingMode: hold.billing_mode,
      heldMicros: hold.amount_micros,
      upstream: found.upstream,
      feeMicros: found.feeMicros,
    }),
    ...(found.exposure ?? []),
  ];
  const corrections = await correctionsOf(hold, by, charged, now);
  return inTransaction(async (client) => {
    if (found.limit && !(await isWithin(client, hold, hold.amount_micros - charged, found.limit)))
      return null;
    const rows = await storeResolution.all(client, {
      executionId: hold.execution_id,
      state: charged > 0 ? "settled" : "released",
      settledMicros: charged > 0 ? charged : null,
      now,
      resolvedBy: ctx.principal.id,
      note,
      transactionId: newId("transaction"),
      postings,
      corrections,
      resolution: by,
    });
    if (rows.length === 0) return null;
    if (by === "written_off") await announceWriteOff(client, hold, charged, now);
    // Only a worker's report of its own call has no audit entry.
    if (by !== "late_answer" && by !== "never_sent")
      await record(
        ctx,
        {
          organizationId: hold.organization_id,
          projectId: hold.project_id,
          action: "hold.resolved",
          subject: hold.id,
          details: { executionId: hold.execution_id, chargedMicros: charged, resolution: by, note },
        },
        client,
      );
    const after = await readHold.first(client, { executionId: hold.execution_id });
    return after!; // updated above, and holds are never deleted
  });
}

const sumWrittenOff = statement("hold.sum.written_off", {
  params: { organizationId: text, since: timestamptz },
  row: { micros: int8 },
  sql: `SELECT coalesce(sum(amount_micros - coalesce(settled_micros, 0)), 0)::bigint AS micros FROM hold
     WHERE resolution = 'written_off' AND organization_id = $organizationId AND NOT is_test AND resolved_at > $since`,
});

/**
 * True if the organization's limit allows this write-off; test holds have no limit. The lock lasts until the
 * transaction ends, so write-offs of one organization cannot exceed the limit together.
 */
async function isWithin(
  client: Queryable,
  { organization_id, is_test }: ExecutionHold,
  micros: Micros,
  limit: NonNullable<LateCharge["limit"]>,
): Promise<boolean> {
  if (is_test) return true;
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('write-offs ' || $1, 0))", [
    organization_id,
  ]);
  const found = await sumWrittenOff.first(client, { organizationId: organization_id, since: limit.since });
  return (found?.micros ?? 0) + micros <= limit.micros;
}

/**
 * Signs the correction of a pinned record; jobs have none. The note is left out, because more people can
 * read a record than a hold.
 */
async function correctionsOf(hold: ExecutionHold, by: LateCharge["by"], chargedMicros: Micros, now: Date) {
  if (hold.pinned_id === null) return [];
  const shown = {
    correctionId: newId("correction"),
    receiptId: receiptIdOf(hold.pinned_id),
    kind: "charge_resolved" as const,
    details: {
      holdId: hold.id,
      holdState: chargedMicros > 0 ? "settled" : "released",
      chargedMicros,
      ...(by === "person" ? {} : { resolution: by }),
    },
    createdAt: now.toISOString(),
  };
  const { keyId, signature } = await signCorrection(shown);
  return [{ id: shown.correctionId, kind: shown.kind, details: shown.details, signature, key_id: keyId }];
}

const announceWriteOff = (client: Queryable, hold: ExecutionHold, chargedMicros: Micros, now: Date) =>
  announce(
    client,
    [
      {
        id: newId("event"),
        type: "hold.written_off",
        organizationId: hold.organization_id,
        projectId: hold.project_id,
        createdAt: now,
        payload: {
          holdId: hold.id,
          executionId: hold.execution_id,
          capabilityKey: hold.capability_key,
          amountMicros: hold.amount_micros,
          chargedMicros,
          writtenOffMicros: hold.amount_micros - chargedMicros,
          isTest: hold.is_test,
        },
      },
    ],
    now,
  );
