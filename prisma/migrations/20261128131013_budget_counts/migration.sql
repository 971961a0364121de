-- Setting a budget counted every hold that the organization ever had, under the lock that every admission waits for. Now it counts the
-- holds of the current period, each kind of caller once, and a budget whose spend was counted all along is not counted again.

-- Counts a new budget, or one whose spend was not counted until now, from the holds of its current period, of the one that a clock
-- difference can touch, and of later ones, which a fast clock made. Windows of earlier periods, which were not counted, are removed. The
-- caller holds the exclusive lock of the organization.
CREATE OR REPLACE FUNCTION capstan_recount_budget(budget text, moment timestamptz) RETURNS void LANGUAGE plpgsql
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
