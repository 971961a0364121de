-- The hold of a job moves into the job's own row: it ends in the statement that ends the job. Holds of pinned executions keep a
-- table of their own, and the view "hold" has both.

DROP VIEW "account_line";
DROP VIEW "hold_line";
DROP VIEW "execution";

ALTER TABLE "job" ADD COLUMN "credential_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "hold_state" hold_state,
  ADD COLUMN "hold_funding" hold_funding,
  ADD COLUMN "hold_settled_micros" amount_micros,
  ADD COLUMN "hold_resolved_at" TIMESTAMPTZ(3),
  ADD COLUMN "hold_resolved_by" TEXT,
  ADD COLUMN "hold_note" TEXT,
  ADD COLUMN "hold_resolution" hold_resolution,
  ADD COLUMN "pricing_at_end" jsonb;
DROP TRIGGER "job_first_events_stay" ON "job";
UPDATE "job" SET "pricing_at_end" = "pricing";
UPDATE "job" SET "credential_ids" = h."credential_ids", "hold_state" = h."state", "hold_funding" = h."funding",
  "hold_settled_micros" = h."settled_micros", "hold_resolved_at" = h."resolved_at", "hold_resolved_by" = h."resolved_by",
  "hold_note" = h."note", "hold_resolution" = h."resolution"
FROM "hold" h WHERE h."execution_id" = "job"."id";
-- The sealed quote, which never changes, stays the last column: an update then logs only what is before it.
ALTER TABLE "job" ALTER COLUMN "pricing_at_end" SET NOT NULL, ALTER COLUMN "pricing_at_end" SET STATISTICS 0;
ALTER TABLE "job" DROP COLUMN "pricing";
ALTER TABLE "job" RENAME COLUMN "pricing_at_end" TO "pricing";
DO $$
DECLARE
  added text;
BEGIN
  FOREACH added IN ARRAY ARRAY['credential_ids', 'hold_state', 'hold_funding', 'hold_settled_micros', 'hold_resolved_at', 'hold_resolved_by',
    'hold_note', 'hold_resolution'] LOOP
    EXECUTE format('ALTER TABLE "job" ALTER COLUMN %I SET STATISTICS 25', added);
  END LOOP;
END $$;
CREATE FUNCTION capstan_hold_id(execution text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'hold_' || right(execution, 26);

-- The ledger names the hold of a job as the view does.
ALTER TABLE "ledger_transaction" DISABLE TRIGGER "ledger_transaction_append_only";
UPDATE "ledger_transaction" t SET "hold_id" = capstan_hold_id(t."job_id")
FROM "job" j WHERE t."hold_id" IS NOT NULL AND j."id" = t."job_id";
ALTER TABLE "ledger_transaction" ENABLE TRIGGER "ledger_transaction_append_only";

DROP TRIGGER "hold_never_deleted" ON "hold";
DELETE FROM "hold" USING "job" WHERE "hold"."execution_id" = "job"."id";
DROP INDEX "hold_ambiguous";
DROP INDEX "hold_corrected";
ALTER TABLE "hold" RENAME TO "pinned_hold";
ALTER INDEX "hold_pkey" RENAME TO "pinned_hold_pkey";
ALTER INDEX "hold_execution_id_key" RENAME TO "pinned_hold_execution_id_key";
ALTER INDEX "hold_organization_id_created_at_idx" RENAME TO "pinned_hold_organization_id_created_at_idx";
CREATE TRIGGER "pinned_hold_never_deleted" BEFORE DELETE OR TRUNCATE ON "pinned_hold"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
ALTER TRIGGER "hold_end_stays" ON "pinned_hold" RENAME TO "pinned_hold_end_stays";
ALTER TRIGGER "hold_keeps_what_it_holds" ON "pinned_hold" RENAME TO "pinned_hold_keeps_what_it_holds";
CREATE OR REPLACE FUNCTION capstan_refuse_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the hold of % (%): %', OLD."execution_id", OLD."state", TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE FUNCTION capstan_refuse_job_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the hold of % (%): %', OLD."id", OLD."hold_state", TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "job_hold_end_stays" BEFORE UPDATE OF "hold_state" ON "job" FOR EACH ROW
  WHEN (OLD."hold_state" <> 'open' AND (OLD."hold_state" <> 'ambiguous' OR NEW."hold_state" = 'open')
    OR (OLD."hold_state" IS NULL) <> (NEW."hold_state" IS NULL))
  EXECUTE FUNCTION capstan_refuse_job_hold('it has ended already, or would open again');
-- Admission says what pays: the balance, or else the allowance.
CREATE TRIGGER "job_hold_keeps_what_pays" BEFORE UPDATE OF "hold_funding" ON "job" FOR EACH ROW
  WHEN (OLD."hold_funding" IS DISTINCT FROM 'wallet' OR OLD."hold_state" <> 'open' OR NEW."hold_funding" IS DISTINCT FROM 'allowance')
  EXECUTE FUNCTION capstan_refuse_job_hold('only its state may change');
-- What was admitted never changes, and with it what is held.
CREATE TRIGGER "job_admission_stays" BEFORE UPDATE OF "admitted_events", "id", "organization_id", "project_id", "principal_id",
    "submitted_by", "billing_mode", "credential_ids", "provider", "maximum_micros", "created_at" OR DELETE OR TRUNCATE ON "job"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();

-- Few holds are ambiguous, and many end each second: no index has the others. A BRIN index finds those of a period, and costs
-- an execution nothing.
CREATE INDEX "job_hold_ambiguous" ON "job" ("created_at") WHERE "hold_state" = 'ambiguous' OR "hold_resolution" = 'written_off';
CREATE INDEX "job_by_time" ON "job" USING brin ("created_at");
CREATE INDEX "pinned_hold_ambiguous" ON "pinned_hold" USING brin ("created_at") WHERE "state" = 'ambiguous' OR "resolution" = 'written_off';
CREATE INDEX "job_hold_corrected" ON "job" ("organization_id") WHERE "hold_resolved_by" IS NOT NULL;
CREATE INDEX "pinned_hold_corrected" ON "pinned_hold" ("organization_id") WHERE "resolved_by" IS NOT NULL;

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

-- All holds: a job's is in its own row. Its id is its job's, but for the prefix. A join with many executions says LATERAL and
-- OFFSET 0, so that each is looked for by its id.
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

-- Holds that have not ended, as lists have them: those of a comparison that is not judged are one, under its id. Of jobs they
-- are looked for among those that have not ended, or are ambiguous: both have an index.
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

-- What moved wallets and allowances, as lists have it. A comparison's line is where its first charge is, in one of the two.
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


DROP FUNCTION capstan_reserve(reservation[], bigint, bigint);
ALTER TYPE "reservation" DROP ATTRIBUTE "hold_id";
CREATE FUNCTION capstan_reserve(items reservation[], allowance bigint, trial_ceiling bigint)
RETURNS TABLE ("execution_id" text, "funding" text, "warnings" jsonb) LANGUAGE plpgsql STRICT ROWS 1 AS $$
DECLARE
  warned jsonb := '{}';
  moment timestamptz;
  item reservation := items[1];
  due record;
  spent record;
  account record;
  purse wallet;
BEGIN
  IF cardinality(items) = 0 THEN RETURN; END IF;
  IF cardinality(items) = 1 THEN
    -- An expression and not a query: one hold without budgets costs one statement here.
    IF pg_advisory_xact_lock_shared(capstan_budget_lock(item.organization_id)) IS NULL THEN NULL; END IF;
    -- No budget, and the balance pays: the wallet's row decides. Whatever else there is to say is said below.
    IF item.billing_mode = 'managed' THEN
      UPDATE wallet w SET held_micros = w.held_micros + item.amount_micros
      WHERE w.organization_id = item.organization_id AND w.is_test = item.is_test
        AND item.amount_micros <= w.balance_micros - w.held_micros
        AND (item.amount_micros > trial_ceiling
          OR item.amount_micros > w.allowance_micros - w.allowance_used_micros - w.allowance_held_micros)
        AND item.principal_id NOT LIKE 'pses\_%'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.organization_id = item.organization_id AND NOT capstan_is_of_panel(b.scope));
      IF FOUND THEN
        execution_id := item.execution_id;
        funding := 'wallet';
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
  ELSE
    PERFORM pg_advisory_xact_lock_shared(capstan_budget_lock(x.organization_id))
    FROM (SELECT DISTINCT unnested.organization_id FROM unnest(items) unnested ORDER BY 1) x;
  END IF;

  moment := (SELECT max(i.created_at) FROM unnest(items) i);
  FOR due IN
    SELECT b.id, b.scope, b.period,
      CASE WHEN bool_or(i.enforcement = 'prevent') THEN 'prevent' ELSE b.enforcement::text END AS enforcement,
      b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END AS ceiling,
      capstan_period_start(b.period, i.created_at) AS start, i.is_test, sum(i.amount_micros)::bigint AS amount,
      array_agg(i.place) AS places
    FROM unnest(items) WITH ORDINALITY AS i(execution_id, organization_id, project_id, principal_id, person_id,
      billing_mode, credential_ids, is_test, amount_micros, enforcement, created_at, place)
    JOIN budget b ON b.scope = ANY(capstan_scopes(i.organization_id, i.project_id, i.principal_id, i.person_id, i.billing_mode, i.credential_ids))
    WHERE b.organization_id = i.organization_id AND b.enforcement <> 'off'
      AND (NOT b.managed_only OR i.billing_mode = 'managed')
    GROUP BY b.id, capstan_period_start(b.period, i.created_at), i.is_test
    ORDER BY capstan_scope_rank(b.scope), b.id, capstan_period_start(b.period, i.created_at), i.is_test
  LOOP
    LOOP
      UPDATE budget_window w SET held_micros = w.held_micros + due.amount
      WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test
        AND (due.enforcement <> 'prevent' OR w.settled_micros + w.held_micros + due.amount <= due.ceiling)
      RETURNING w.settled_micros AS settled, w.held_micros AS held, w.alerted_percent AS alerted INTO spent;
      EXIT WHEN FOUND;
      INSERT INTO budget_window (budget_id, period_start, is_test) VALUES (due.id, due.start, due.is_test)
      ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        SELECT w.settled_micros AS settled, w.held_micros AS held INTO spent FROM budget_window w
        WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test;
        -- Room that came back since the refusal: ask once more.
        CONTINUE WHEN spent.settled + spent.held + due.amount <= due.ceiling;
        RAISE EXCEPTION 'budget % is exhausted', due.scope USING ERRCODE = 'CB402', DETAIL = jsonb_build_object(
          'budgetId', due.id, 'scope', due.scope, 'period', due.period, 'enforcement', due.enforcement,
          'ceilingMicros', due.ceiling, 'availableMicros', greatest(0, due.ceiling - spent.settled - spent.held),
          'amountMicros', due.amount)::text;
      END IF;
    END LOOP;
    PERFORM capstan_alert(due.id, due.start, due.is_test, due.ceiling, spent.settled, spent.held, spent.alerted, moment);
    IF spent.settled + spent.held > due.ceiling THEN
      -- In their order each takes of the room there was; a bulk is thousands of them, so in one pass.
      warned := warned || coalesce((
        SELECT jsonb_object_agg(over.execution_id, coalesce(warned->over.execution_id, '[]') || jsonb_build_object(
          'code', 'BudgetExceeded', 'scope', due.scope, 'period', due.period, 'enforcement', due.enforcement,
          'estimatedCost', trim_scale(over.amount_micros / 1e6), 'remaining', trim_scale(greatest(0, over.room) / 1e6),
          'ceiling', trim_scale(due.ceiling / 1e6)))
        FROM (
          SELECT i.execution_id, i.amount_micros, due.ceiling - spent.settled - spent.held + due.amount + i.amount_micros
            - sum(i.amount_micros) OVER (ORDER BY place)::bigint AS room
          FROM unnest(items) WITH ORDINALITY AS i(execution_id, organization_id, project_id, principal_id, person_id,
            billing_mode, credential_ids, is_test, amount_micros, enforcement, created_at, place)
          JOIN unnest(due.places) AS mine(place) USING (place)
        ) over WHERE over.amount_micros > over.room), '{}');
    END IF;
  END LOOP;

  IF warned <> '{}' THEN
    -- Rows that the calling statement has just made: it does not touch them again. A pinned execution has no events.
    INSERT INTO event (project_id, job_id, id, type, payload, created_at)
    SELECT j.project_id, j.id, j.last_event + w.position, 'job.budget_warning', w.value, i.created_at
    FROM unnest(items) i JOIN job j ON j.id = i.execution_id,
      jsonb_array_elements(warned->i.execution_id) WITH ORDINALITY AS w(value, position);
    UPDATE job j SET warnings = j.warnings || (warned->i.execution_id),
      last_event = j.last_event + jsonb_array_length(warned->i.execution_id)
    FROM unnest(items) i WHERE j.id = i.execution_id AND warned ? i.execution_id;
    UPDATE pinned_execution p SET warnings = p.warnings || (warned->i.execution_id)
    FROM unnest(items) i WHERE p.id = i.execution_id AND warned ? i.execution_id;
  END IF;

  FOR account IN
    SELECT DISTINCT i.organization_id, i.is_test FROM unnest(items) i WHERE i.billing_mode = 'managed' ORDER BY 1, 2
  LOOP
    SELECT * INTO purse FROM wallet w
    WHERE w.organization_id = account.organization_id AND w.is_test = account.is_test FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      INSERT INTO wallet (organization_id, is_test, allowance_micros, created_at)
      VALUES (account.organization_id, account.is_test, allowance, moment)
      ON CONFLICT (organization_id, is_test) DO UPDATE SET held_micros = wallet.held_micros
      RETURNING * INTO purse;
    END IF;
    FOREACH item IN ARRAY items LOOP
      CONTINUE WHEN item.organization_id <> account.organization_id OR item.is_test <> account.is_test
        OR item.billing_mode <> 'managed';
      execution_id := item.execution_id;
      warnings := warned->item.execution_id;
      IF item.amount_micros <= trial_ceiling
        AND item.amount_micros <= purse.allowance_micros - purse.allowance_used_micros - purse.allowance_held_micros THEN
        purse.allowance_held_micros := purse.allowance_held_micros + item.amount_micros;
        funding := 'allowance';
        UPDATE job j SET hold_funding = funding WHERE j.id = item.execution_id;
      ELSIF item.amount_micros <= purse.balance_micros - purse.held_micros THEN
        purse.held_micros := purse.held_micros + item.amount_micros;
        funding := 'wallet';
      ELSE
        RAISE EXCEPTION 'organization % has not the funds', item.organization_id USING ERRCODE = 'CB403',
          DETAIL = jsonb_build_object('isTest', item.is_test, 'amountMicros', item.amount_micros,
            'allowanceMicros', greatest(0, purse.allowance_micros - purse.allowance_used_micros - purse.allowance_held_micros),
            'trialCeilingMicros', trial_ceiling,
            'walletMicros', greatest(0, purse.balance_micros - purse.held_micros))::text;
      END IF;
      RETURN NEXT;
    END LOOP;
    UPDATE wallet w SET held_micros = purse.held_micros, allowance_held_micros = purse.allowance_held_micros
    WHERE w.organization_id = account.organization_id AND w.is_test = account.is_test;
  END LOOP;

  FOREACH item IN ARRAY items LOOP
    CONTINUE WHEN item.billing_mode = 'managed';
    execution_id := item.execution_id;
    warnings := warned->item.execution_id;
    funding := NULL;
    RETURN NEXT;
  END LOOP;
END $$;


SELECT capstan_guard_tenants();
