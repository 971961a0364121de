-- Money. -------------------------------------------------------------------------------------------------
-- Reservations follow holds: the statement that creates or ends holds calls one of these two functions with them. The
-- ceilings that a hold counts against follow from the hold alone (its organization, project, principal, person, billing
-- mode and day), so they are not stored. Locks are always taken in one order: organization, project and principal
-- windows, then wallets. Setting a budget takes an exclusive lock of its organization, which waits for all reservations
-- in progress.

-- `enforcement` is the enforcement that the call requests: it can turn a warning ceiling into a preventing one, never
-- the reverse.
CREATE TYPE "reservation" AS ("execution_id" text, "organization_id" text, "project_id" text,
  "principal_id" text, "person_id" text, "billing_mode" text, "credential_ids" text[], "is_test" boolean, "amount_micros" bigint,
  "enforcement" text, "created_at" timestamptz);
CREATE TYPE "resolution" AS ("organization_id" text, "project_id" text, "principal_id" text, "person_id" text,
  "billing_mode" text, "credential_ids" text[], "is_test" boolean, "funding" text, "created_at" timestamptz,
  "amount_micros" bigint, "state" text, "settled_micros" bigint);

CREATE FUNCTION capstan_period_start(period text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE
RETURN CASE period WHEN 'day' THEN date_trunc('day', moment, 'UTC') WHEN 'month' THEN date_trunc('month', moment, 'UTC')
  ELSE 'epoch'::timestamptz END;

-- The keys that replaced this one, as budget scopes. A rotated key's budget belongs to its successor, and the old key's
-- spend, past and present, counts against it.
CREATE FUNCTION capstan_key_successors(key text) RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY(
  WITH RECURSIVE successor AS (
    SELECT replaced_by AS id FROM api_key WHERE api_key.id = key AND replaced_by IS NOT NULL
    UNION SELECT api_key.replaced_by FROM successor JOIN api_key ON api_key.id = successor.id WHERE api_key.replaced_by IS NOT NULL
  ) SELECT 'principal:' || id FROM successor);

-- Moves a key's budgets, with the spend that counts against them, to its successor, under a lock that excludes
-- reservations and settlements.
CREATE FUNCTION capstan_transfer_budgets(organization text, old_key text, new_key text, moment timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  passed integer;
BEGIN
  PERFORM pg_advisory_xact_lock(capstan_budget_lock(organization));
  UPDATE budget SET scope = 'principal:' || new_key, updated_at = moment
  WHERE organization_id = organization AND scope = 'principal:' || old_key;
  GET DIAGNOSTICS passed = ROW_COUNT;
  RETURN passed;
END $$;

-- The scopes whose ceilings an execution counts against. `guardrail` is the organization's ceiling for its own
-- accounts, and `connection` is one of these accounts; an execution of several calls counts in full against each
-- account that it may use. Spend of a key that a management key created also counts against the management key, so all
-- its keys share one ceiling.
CREATE FUNCTION capstan_scopes(organization text, project text, principal text, person text, billing_mode text, credentials text[])
RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY['organization:' || organization, 'project:' || project, 'principal:' || principal, 'principal:' || person,
  CASE WHEN billing_mode = 'byok' THEN 'guardrail:' || organization END]
  || CASE WHEN principal LIKE 'key\_%' THEN capstan_key_successors(principal)
    || ARRAY(SELECT 'principal:' || made_by_key FROM api_key WHERE id = principal AND made_by_key IS NOT NULL) END
  || CASE WHEN cardinality(credentials) > 0 THEN ARRAY(SELECT 'connection:' || id FROM unnest(credentials) AS id) END;

-- The limit of one embed session. There are as many as sessions and they are meant to be used up, so they send no
-- alerts, and other principals skip them.
CREATE FUNCTION capstan_is_of_panel(scope text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN starts_with(scope, 'principal:pses_');
CREATE INDEX "budget_of_no_panel" ON "budget" ("organization_id") WHERE NOT capstan_is_of_panel("scope");

CREATE FUNCTION capstan_scope_rank(scope text) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN CASE split_part(scope, ':', 1) WHEN 'organization' THEN 1 WHEN 'project' THEN 2 ELSE 3 END;

-- Key of the lock between setting a budget and counting against it.
CREATE FUNCTION capstan_budget_lock(organization text) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN hashtextextended('budget ' || organization, 0);

-- Reserves money for new holds. Returns what pays for each (also written to the job's row if it is not the balance),
-- and the warning ceilings that are exceeded, which are also written to the row of the job or pinned execution and to
-- the job's events. Raises SQLSTATE CB402 if a preventing ceiling would be exceeded, and CB403 if the organization
-- lacks the funds. Both have a DETAIL in JSON, and nothing is written.
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

-- The highest of 50, 80 and 100 % that this spend has reached; 0 if none.
CREATE FUNCTION capstan_reached(spent bigint, ceiling bigint) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN CASE WHEN spent = 0 THEN 0 WHEN spent >= ceiling THEN 100 WHEN spent * 10 >= ceiling * 8 THEN 80
  WHEN spent * 2 >= ceiling THEN 50 ELSE 0 END;

-- Creates an alert for each of 50, 80 and 100 % that settled and held amounts have reached and that was not reported in
-- this period.
CREATE FUNCTION capstan_alert(budget text, start timestamptz, test boolean, ceiling bigint, settled bigint, held bigint,
  alerted integer, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  reached integer := capstan_reached(settled + held, ceiling);
BEGIN
  IF reached <= alerted THEN RETURN; END IF;
  UPDATE budget_window w SET alerted_percent = reached
  WHERE w.budget_id = budget AND w.period_start = start AND w.is_test = test;
  INSERT INTO budget_alert (id, budget_id, organization_id, project_id, scope, period, period_start, is_test, percent,
    spent_micros, held_micros, ceiling_micros, enforcement, created_at)
  SELECT capstan_event_id(moment, step.percent), b.id, b.organization_id, b.project_id, b.scope, b.period, start, test,
    step.percent, capstan_alert.settled, capstan_alert.held, ceiling, b.enforcement, moment
  FROM budget b, unnest(ARRAY[50, 80, 100]) AS step(percent)
  WHERE b.id = budget AND step.percent > alerted AND step.percent <= reached AND NOT capstan_is_of_panel(b.scope);
END $$;

-- `evt_` and a ULID: the time in milliseconds, then random bits. Ids of one call sort by `step`.
CREATE FUNCTION capstan_event_id(moment timestamptz, step integer) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  millis bigint := floor(extract(epoch FROM moment) * 1000);
  chance bytea := uuid_send(gen_random_uuid());
  made text := '';
BEGIN
  FOR place IN 1..10 LOOP
    made := substr(alphabet, (millis % 32)::integer + 1, 1) || made;
    millis := millis / 32;
  END LOOP;
  made := made || substr(alphabet, step / 32 + 1, 1) || substr(alphabet, step % 32 + 1, 1);
  -- Fourteen digits of the sixteen random bytes, less the two that hold a UUID's version and variant.
  FOR place IN 0..15 LOOP
    CONTINUE WHEN place IN (6, 8);
    made := made || substr(alphabet, (get_byte(chance, place) & 31) + 1, 1);
  END LOOP;
  RETURN 'evt_' || made;
END $$;

-- Releases the reservations of holds that have ended, and counts settled ones as spent.
CREATE FUNCTION capstan_resolve(items resolution[], moment timestamptz) RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  item resolution := items[1];
  due record;
  spent record;
BEGIN
  IF cardinality(items) = 0 THEN RETURN; END IF;
  IF cardinality(items) = 1 THEN
    IF pg_advisory_xact_lock_shared(capstan_budget_lock(item.organization_id)) IS NULL THEN NULL; END IF;
    -- No budget, and the balance paid, as above.
    IF item.funding = 'wallet' AND item.state IN ('settled', 'released') THEN
      UPDATE wallet w SET held_micros = w.held_micros - item.amount_micros,
        balance_micros = w.balance_micros - coalesce(item.settled_micros, 0)
      WHERE w.organization_id = item.organization_id AND w.is_test = item.is_test
        AND item.principal_id NOT LIKE 'pses\_%'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.organization_id = item.organization_id AND NOT capstan_is_of_panel(b.scope));
      IF FOUND THEN RETURN; END IF;
    END IF;
  ELSE
    PERFORM pg_advisory_xact_lock_shared(capstan_budget_lock(x.organization_id))
    FROM (SELECT DISTINCT unnested.organization_id FROM unnest(items) unnested ORDER BY 1) x;
  END IF;

  FOR due IN
    SELECT b.id, b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END AS ceiling,
      capstan_period_start(b.period, i.created_at) AS start, i.is_test,
      sum(i.amount_micros)::bigint AS freed, sum(coalesce(i.settled_micros, 0))::bigint AS charged
    FROM unnest(items) i
    JOIN budget b ON b.scope = ANY(capstan_scopes(i.organization_id, i.project_id, i.principal_id, i.person_id, i.billing_mode, i.credential_ids))
    WHERE b.organization_id = i.organization_id AND b.enforcement <> 'off' AND i.state IN ('settled', 'released')
      AND (NOT b.managed_only OR i.billing_mode = 'managed')
    GROUP BY b.id, capstan_period_start(b.period, i.created_at), i.is_test
    ORDER BY capstan_scope_rank(b.scope), b.id, capstan_period_start(b.period, i.created_at), i.is_test
  LOOP
    UPDATE budget_window w SET held_micros = w.held_micros - due.freed, settled_micros = w.settled_micros + due.charged
    WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test
    RETURNING w.settled_micros AS settled, w.held_micros AS held, w.alerted_percent AS alerted INTO spent;
    -- Only an overrun can reach a step here that the reservation had not reached.
    IF FOUND AND due.charged > due.freed THEN
      PERFORM capstan_alert(due.id, due.start, due.is_test, due.ceiling, spent.settled, spent.held, spent.alerted, moment);
    END IF;
  END LOOP;

  FOR due IN
    SELECT i.organization_id, i.is_test,
      coalesce(sum(i.amount_micros) FILTER (WHERE i.funding = 'wallet'), 0)::bigint AS freed,
      coalesce(sum(i.settled_micros) FILTER (WHERE i.funding = 'wallet'), 0)::bigint AS charged,
      coalesce(sum(i.amount_micros) FILTER (WHERE i.funding = 'allowance'), 0)::bigint AS allowance_freed,
      coalesce(sum(i.settled_micros) FILTER (WHERE i.funding = 'allowance'), 0)::bigint AS allowance_charged
    FROM unnest(items) i WHERE i.funding IS NOT NULL AND i.state IN ('settled', 'released')
    GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE wallet w SET held_micros = w.held_micros - due.freed, balance_micros = w.balance_micros - due.charged,
      allowance_held_micros = w.allowance_held_micros - due.allowance_freed,
      allowance_used_micros = w.allowance_used_micros + due.allowance_charged
    WHERE w.organization_id = due.organization_id AND w.is_test = due.is_test;
  END LOOP;
END $$;

-- Counts a new budget, or one whose spend was not counted until now, from the holds of its current period, of the one that a clock
-- difference can touch, and of later ones, which a fast clock made. Windows of earlier periods, which were not counted, are removed. The
-- caller holds the exclusive lock of the organization.
CREATE FUNCTION capstan_recount_budget(budget text, moment timestamptz) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  b budget;
  starts timestamptz[];
  first timestamptz;
BEGIN
  SELECT * INTO b FROM budget x WHERE x.id = budget;
  starts := ARRAY(SELECT DISTINCT capstan_period_start(b.period, moment + off)
    FROM unnest(ARRAY[interval '-10 minutes', interval '0', interval '10 minutes']) AS off);
  first := (SELECT min(start) FROM unnest(starts) AS start);
  DELETE FROM budget_window w WHERE w.budget_id = b.id AND w.period_start < first;
  INSERT INTO budget_window (budget_id, period_start, is_test, held_micros, settled_micros)
  WITH spent AS MATERIALIZED (
    SELECT h.project_id, h.principal_id, h.person_id, h.billing_mode, h.credential_ids, h.is_test,
      capstan_period_start(b.period, h.created_at) AS start,
      coalesce(sum(h.amount_micros) FILTER (WHERE h.state IN ('open', 'ambiguous')), 0)::bigint AS held,
      coalesce(sum(h.settled_micros) FILTER (WHERE h.state = 'settled'), 0)::bigint AS settled
    FROM hold h
    WHERE h.organization_id = b.organization_id AND h.created_at >= first AND (NOT b.managed_only OR h.billing_mode = 'managed')
    GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), mine AS (
    SELECT s.start, s.is_test, s.held, s.settled FROM spent s
    WHERE b.scope = ANY(capstan_scopes(b.organization_id, s.project_id, s.principal_id, s.person_id, s.billing_mode, s.credential_ids))
  )
  SELECT b.id, counted.start, counted.is_test, coalesce(sum(mine.held), 0), coalesce(sum(mine.settled), 0)
  FROM (
    SELECT start, is_test FROM unnest(starts) AS start, unnest(ARRAY[false, true]) AS is_test
    UNION SELECT w.period_start, w.is_test FROM budget_window w WHERE w.budget_id = b.id AND w.period_start >= first
    UNION SELECT mine.start, mine.is_test FROM mine
  ) counted
  LEFT JOIN mine USING (start, is_test)
  GROUP BY counted.start, counted.is_test
  ON CONFLICT (budget_id, period_start, is_test) DO UPDATE SET held_micros = excluded.held_micros,
    settled_micros = excluded.settled_micros;
  PERFORM capstan_apply_ceiling(budget, moment);
END $$;

-- Takes the ceiling of a budget to its windows: alerts for the steps that its spend reaches under it, and room for those that it no
-- longer reaches. The caller holds the exclusive lock of the organization.
CREATE FUNCTION capstan_apply_ceiling(budget text, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b budget;
  spent record;
  ceiling bigint;
BEGIN
  SELECT * INTO b FROM budget x WHERE x.id = budget;
  ceiling := b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END;
  INSERT INTO budget_window (budget_id, period_start, is_test)
  SELECT b.id, capstan_period_start(b.period, moment), test FROM unnest(ARRAY[false, true]) AS test
  ON CONFLICT DO NOTHING;
  UPDATE budget_window w SET alerted_percent = capstan_reached(w.held_micros + w.settled_micros, ceiling)
  WHERE w.budget_id = b.id AND w.alerted_percent > capstan_reached(w.held_micros + w.settled_micros, ceiling);
  IF b.enforcement = 'off' THEN RETURN; END IF;
  FOR spent IN
    SELECT w.* FROM budget_window w WHERE w.budget_id = b.id AND w.period_start = capstan_period_start(b.period, moment)
  LOOP
    PERFORM capstan_alert(b.id, spent.period_start, spent.is_test, ceiling, spent.settled_micros, spent.held_micros,
      spent.alerted_percent, moment);
  END LOOP;
END $$;
