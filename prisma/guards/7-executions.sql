-- Executions. --------------------------------------------------------------------------------------------
-- One view of an execution, job or pinned, for reservations, the ledger and usage. Ids of one kind sort by time, so a
-- range of ids reads one table by its index and finds nothing in the other.

-- The choices fixed at admission; an item takes them from its bulk.
CREATE FUNCTION capstan_pinned_plan(pinned pinned_execution) RETURNS jsonb LANGUAGE sql STABLE
RETURN coalesce(pinned.plan, (SELECT b.plan FROM pinned_bulk b WHERE b.id = pinned.bulk_id));

CREATE VIEW "execution" WITH (security_invoker = true) AS
SELECT j.id, j.id AS job_id, NULL AS pinned_id, j.project_id, j.organization_id, j.environment, j.product_id, j.principal_id,
  j.capability_key, CASE WHEN j.is_blind THEN '' ELSE j.provider END AS provider,
  CASE WHEN j.is_blind THEN '' ELSE j.model END AS model, j.provider = 'sandbox' AS is_test, j.mode::text AS mode,
  CASE WHEN j.is_blind AND j.completed_at IS NOT NULL THEN 'unjudged' ELSE j.status::text END AS status,
  j.billing_mode::text AS billing_mode, j.external_ref, j.tags,
  CASE WHEN j.is_blind THEN '' ELSE j.pricing_version END AS pricing_version, j.created_at,
  CASE WHEN j.is_blind THEN j.created_at ELSE j.completed_at END AS completed_at,
  j.estimated_micros::bigint AS estimated_micros, j.actual_micros::bigint AS actual_micros,
  CASE WHEN NOT j.is_blind THEN j.receipt_id END AS receipt_id, NULL::jsonb AS usage,
  (j.pricing->>'serviceFeeBps')::integer AS fee_bps,
  -- Of a charge at the whole hold, since the cost is unknown.
  (j.pricing->>'maximumMicros')::bigint - (j.pricing->>'maximumUpstreamMicros')::bigint AS fee_on_hold_micros,
  -- What the books name: until a comparison is judged, it and none of its competitors.
  CASE WHEN j.is_blind THEN j.comparison_id ELSE j.id END AS line_id
FROM job j
UNION ALL
SELECT p.id, NULL, p.id, p.project_id, p.organization_id, p.environment, '', p.principal_id,
  'inference.pinned', p.provider, p.model, p.provider = 'sandbox', CASE WHEN p.bulk_id IS NULL THEN 'pinned' ELSE 'pinned_bulk' END,
  p.status::text, 'byok', capstan_pinned_plan(p)->>'externalRef',
  ARRAY(SELECT jsonb_array_elements_text(capstan_pinned_plan(p)->'tags')), capstan_pinned_plan(p)->>'pricingVersion',
  p.created_at, p.completed_at, p.estimated_micros::bigint, p.actual_micros::bigint, p.receipt_id, p.usage, 0, 0::bigint, p.id
FROM pinned_execution p;

-- Comparisons in the ledger. The sums of wallet, budgets and usage are always exact. Until a comparison is judged, its
-- reservations and costs are one line under the comparison's id, so that judges cannot see a competitor's price.

-- Only few jobs are still blind, and this index alone finds them.
CREATE INDEX "job_blind" ON "job" ("organization_id", "project_id", "comparison_id") WHERE "is_blind";

-- All holds. A job's hold is in the job's row, and its id is the job's id with another prefix. A join with many
-- executions uses LATERAL and OFFSET 0, so that each hold is found by its id.
CREATE FUNCTION capstan_hold_id(execution text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'hold_' || right(execution, 26);
CREATE VIEW "hold" WITH (security_invoker = true) AS
SELECT capstan_hold_id(j.id) AS id, j.organization_id, j.project_id, j.id AS execution_id, j.principal_id, j.submitted_by AS person_id,
  j.billing_mode, j.credential_ids, j.provider = 'sandbox' AS is_test, j.hold_funding AS funding, j.maximum_micros AS amount_micros,
  j.hold_state AS state, j.hold_settled_micros AS settled_micros, j.created_at, j.hold_resolved_at AS resolved_at,
  j.hold_resolved_by AS resolved_by, j.hold_note AS note, j.hold_resolution AS resolution
FROM job j WHERE j.hold_state IS NOT NULL
UNION ALL
SELECT p.id, p.organization_id, p.project_id, p.execution_id, p.principal_id, p.person_id, p.billing_mode, p.credential_ids, p.is_test,
  p.funding, p.amount_micros, p.state, p.settled_micros, p.created_at, p.resolved_at, p.resolved_by, p.note, p.resolution
FROM pinned_hold p;

-- Open and ambiguous holds, for lists. Those of a comparison that is not judged form one line under its id. Jobs are
-- searched among unfinished and ambiguous ones, which both have an index.
CREATE VIEW "hold_line" WITH (security_invoker = true) AS
SELECT h.*, x.capability_key, x.status
FROM (
  SELECT id FROM job WHERE (completed_at IS NULL OR hold_state = 'ambiguous') AND NOT is_blind
  UNION ALL SELECT execution_id FROM pinned_hold WHERE state IN ('open', 'ambiguous')
) held JOIN LATERAL (SELECT * FROM hold WHERE hold.execution_id = held.id OFFSET 0) h ON h.state IN ('open', 'ambiguous')
  LEFT JOIN execution x ON x.id = held.id
UNION ALL
SELECT capstan_hold_id(j.comparison_id), h.organization_id, h.project_id, j.comparison_id, h.principal_id, h.person_id, h.billing_mode,
  '{}'::text[], h.is_test, NULL, sum(h.amount_micros)::bigint,
  CASE WHEN bool_or(h.state = 'open') THEN 'open' ELSE 'ambiguous' END, NULL::bigint, min(h.created_at), NULL, NULL, NULL, NULL,
  j.capability_key, NULL
FROM job j JOIN LATERAL (SELECT * FROM hold WHERE hold.execution_id = j.id OFFSET 0) h ON h.state IN ('open', 'ambiguous')
WHERE j.is_blind
GROUP BY h.organization_id, h.project_id, j.comparison_id, h.principal_id, h.person_id, h.billing_mode, h.is_test, j.capability_key;

-- The ledger with one row per posting.
CREATE VIEW "ledger_entry" WITH (security_invoker = true) AS
SELECT coalesce((p.value->>'id')::bigint, t.id + p.position - 1) AS id, t.transaction_id, t.organization_id, t.project_id, t.job_id,
  t.hold_id, t.payment_id, p.value->>'account' AS account, (p.value->>'amount_micros')::bigint AS amount_micros,
  coalesce(p.value->>'currency', 'USD') AS currency, p.value->>'kind' AS kind, t.pricing_version, t.is_test, t.created_at
FROM ledger_transaction t, jsonb_array_elements(t.postings) WITH ORDINALITY AS p(value, position);

-- Movements of wallets and allowances, for lists. A comparison's line is in the account of its first charge.
CREATE VIEW "account_line" WITH (security_invoker = true) AS
SELECT t.id, t.transaction_id, t.organization_id, t.project_id, t.job_id, NULL AS comparison_id, t.payment_id, t.account,
  (t.postings->0->>'amount_micros')::bigint AS amount_micros, coalesce(t.postings->0->>'currency', 'USD') AS currency,
  t.postings->0->>'kind' AS kind, t.pricing_version, t.is_test, t.created_at
FROM ledger_transaction t LEFT JOIN job j ON j.id = t.job_id
WHERE j.is_blind IS NOT TRUE
UNION ALL
SELECT min(t.id), j.comparison_id, j.organization_id, j.project_id, NULL, j.comparison_id, NULL, max(t.account),
  sum((t.postings->0->>'amount_micros')::bigint)::bigint, 'USD', 'charge', NULL, t.is_test, min(j.created_at)
FROM job j JOIN ledger_transaction t ON t.hold_id = capstan_hold_id(j.id) AND t.account IN ('wallet:' || j.organization_id, 'allowance:' || j.organization_id)
WHERE j.is_blind
GROUP BY j.comparison_id, j.organization_id, j.project_id, t.is_test;

-- All events of a job. Each is stored in the row that its statement wrote anyway, or in a row of its own.
CREATE VIEW "job_event" WITH (security_invoker = true) AS
SELECT project_id, job_id, id::integer AS id, type, payload, created_at FROM event
UNION ALL
SELECT j.project_id, j.id, e.position::integer, e.value->>'type', e.value->'payload', j.created_at
FROM job j, jsonb_array_elements(j.admitted_events) WITH ORDINALITY AS e(value, position)
UNION ALL
SELECT r.project_id, r.job_id, r.last_event - jsonb_array_length(r.events) + e.position::integer, e.value->>'type',
  e.value->'payload', r.created_at
FROM receipt r, jsonb_array_elements(r.events) WITH ORDINALITY AS e(value, position);

-- Claims the next items of a bulk for its worker. The lease lasts from the database's current time for `until` minus
-- `moment`, both of which are the caller's times. The count is made under the bulk's lock, so that the items in
-- progress never exceed its lanes, however many processes claim at once; after a cancel there are none.
CREATE FUNCTION capstan_claim_items(bulk text, bulk_fence integer, owner text, wanted integer, until timestamptz, moment timestamptz)
RETURNS SETOF pinned_execution LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  room integer;
BEGIN
  SELECT b.lanes INTO room FROM pinned_bulk b
  WHERE b.id = bulk AND b.fence = bulk_fence AND b.status = 'running' AND b.cancel_requested_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT least(wanted, room - count(*)) INTO room FROM pinned_execution item
  WHERE item.bulk_id = bulk AND (item.status = 'running') IS TRUE;
  IF room <= 0 THEN RETURN; END IF;
  RETURN QUERY UPDATE pinned_execution item SET status = 'running', fence = item.fence + 1, lease_owner = owner,
    lease_until = clock_timestamp() + (until - moment), started_at = coalesce(item.started_at, moment)
  FROM (SELECT waiting.id FROM pinned_execution waiting WHERE waiting.bulk_id = bulk AND (waiting.status = 'queued') IS TRUE
    ORDER BY waiting.position LIMIT room FOR UPDATE SKIP LOCKED) picked
  WHERE item.id = picked.id RETURNING item.*;
END $$;

-- Repeats of requests without an idempotency key (server/domain/jobs/admission/repeats.ts).

-- Finds the execution that a request joins in place of starting one; null if there is none. The request then becomes
-- its waiter, so that each execution is joined by one repeat, and by another only if that one is lost in turn; an
-- ambiguous outcome can be joined by any repeat. A request is lost if its lease ends before `stalled` and no one can
-- tell whether its process lives. Only the difference between `stalled` and `moment` counts, because both are the
-- caller's times and leases use the database's.
CREATE FUNCTION capstan_join(hash text, request text, process bigint, retries integer, awaits_end boolean, moment timestamptz,
  stalled timestamptz, guard_ms bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  ended_after timestamptz := moment - guard_ms * interval '1 millisecond';
  is_mine boolean := false;
  earlier record;
BEGIN
  -- Most requests are like no other, and are spared the rest.
  IF NOT EXISTS (SELECT FROM job j WHERE j.repeat_hash = hash) THEN RETURN NULL; END IF;
  LOOP
    SELECT j.id, j.status INTO earlier FROM job j
    WHERE j.repeat_hash = hash AND CASE
      WHEN j.status = 'failed' THEN j.completed_at > ended_after
      WHEN j.status = 'succeeded' THEN j.completed_at > ended_after
        AND (j.waiter_state = 'answered_early' OR (j.waiter_state = 'left' AND retries > 0))
        AND EXISTS (SELECT FROM payload p WHERE p.job_id = j.id AND p.kind = 'output' AND p.content IS NOT NULL
          AND (p.expires_at IS NULL OR p.expires_at > moment))
      WHEN j.status IN ('canceled', 'canceling') THEN false
      WHEN j.waiter_state <> 'waiting' OR j.waiter_retries < retries THEN true
      WHEN j.status = 'running' AND j.lease_until < clock_timestamp()
        + CASE WHEN j.waiter_process IS NULL THEN stalled - moment ELSE interval '0' END THEN true
      -- Its process holds this lock while it lives; asked last, since asking takes it for a moment.
      ELSE j.waiter_process <> coalesce(process, 0) AND pg_try_advisory_xact_lock_shared(j.waiter_process) END
    ORDER BY j.status = 'failed', j.id LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
    -- Nothing is changed by who is told an outcome.
    IF earlier.status = 'failed' THEN RETURN earlier.id; END IF;
    EXIT WHEN is_mine;
    -- One at a time takes the place of a lost request; who waited for that looks again.
    PERFORM pg_advisory_xact_lock(hashtextextended('repeat ' || hash, 0));
    is_mine := true;
  END LOOP;
  UPDATE job j SET waiter = request, waiter_process = process, waiter_state = 'waiting', waiter_retries = retries,
    repeat_hash = CASE WHEN awaits_end AND j.status <> 'succeeded' THEN j.repeat_hash END
  WHERE j.id = earlier.id;
  RETURN earlier.id;
END $$;
