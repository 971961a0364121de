-- The events of an admission and of an end are in the rows of the job and its receipt, which their statements write anyway.

ALTER TABLE "job" ADD COLUMN "admitted_events" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "job" ALTER COLUMN "admitted_events" SET STATISTICS 0;
ALTER TABLE "receipt" ADD COLUMN "events" JSONB NOT NULL DEFAULT '[]', ADD COLUMN "last_event" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "receipt" ALTER COLUMN "events" SET STATISTICS 0, ALTER COLUMN "last_event" SET STATISTICS 25;
CREATE TRIGGER "job_first_events_stay" BEFORE UPDATE OF "admitted_events" OR DELETE OR TRUNCATE ON "job"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();

-- Events that are there already stay where they are.
ALTER TABLE "job_event" RENAME TO "event";
ALTER INDEX "job_event_pkey" RENAME TO "event_pkey";
ALTER TRIGGER "job_event_append_only" ON "event" RENAME TO "event_append_only";

-- All events of a job: each is in the row that its statement wrote anyway, or in one of its own.
CREATE VIEW "job_event" WITH (security_invoker = true) AS
SELECT project_id, job_id, id::integer AS id, type, payload, created_at FROM event
UNION ALL
SELECT j.project_id, j.id, e.position::integer, e.value->>'type', e.value->'payload', j.created_at
FROM job j, jsonb_array_elements(j.admitted_events) WITH ORDINALITY AS e(value, position)
UNION ALL
SELECT r.project_id, r.job_id, r.last_event - jsonb_array_length(r.events) + e.position::integer, e.value->>'type',
  e.value->'payload', r.created_at
FROM receipt r, jsonb_array_elements(r.events) WITH ORDINALITY AS e(value, position);

CREATE OR REPLACE FUNCTION capstan_reserve(items reservation[], allowance bigint, trial_ceiling bigint)
RETURNS TABLE ("hold_id" text, "funding" text, "warnings" jsonb) LANGUAGE plpgsql STRICT ROWS 1 AS $$
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
        hold_id := item.hold_id;
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
    FROM unnest(items) WITH ORDINALITY AS i(hold_id, execution_id, organization_id, project_id, principal_id, person_id,
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
        SELECT jsonb_object_agg(over.hold_id, coalesce(warned->over.hold_id, '[]') || jsonb_build_object(
          'code', 'BudgetExceeded', 'scope', due.scope, 'period', due.period, 'enforcement', due.enforcement,
          'estimatedCost', trim_scale(over.amount_micros / 1e6), 'remaining', trim_scale(greatest(0, over.room) / 1e6),
          'ceiling', trim_scale(due.ceiling / 1e6)))
        FROM (
          SELECT i.hold_id, i.amount_micros, due.ceiling - spent.settled - spent.held + due.amount + i.amount_micros
            - sum(i.amount_micros) OVER (ORDER BY place)::bigint AS room
          FROM unnest(items) WITH ORDINALITY AS i(hold_id, execution_id, organization_id, project_id, principal_id, person_id,
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
      jsonb_array_elements(warned->i.hold_id) WITH ORDINALITY AS w(value, position);
    UPDATE job j SET warnings = j.warnings || (warned->i.hold_id),
      last_event = j.last_event + jsonb_array_length(warned->i.hold_id)
    FROM unnest(items) i WHERE j.id = i.execution_id AND warned ? i.hold_id;
    UPDATE pinned_execution p SET warnings = p.warnings || (warned->i.hold_id)
    FROM unnest(items) i WHERE p.id = i.execution_id AND warned ? i.hold_id;
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
      hold_id := item.hold_id;
      warnings := warned->item.hold_id;
      IF item.amount_micros <= trial_ceiling
        AND item.amount_micros <= purse.allowance_micros - purse.allowance_used_micros - purse.allowance_held_micros THEN
        purse.allowance_held_micros := purse.allowance_held_micros + item.amount_micros;
        funding := 'allowance';
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
    hold_id := item.hold_id;
    warnings := warned->item.hold_id;
    funding := NULL;
    RETURN NEXT;
  END LOOP;
END $$;

SELECT capstan_guard_tenants();
