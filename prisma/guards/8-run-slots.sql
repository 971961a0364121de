-- Run slots: the turns of the embedded engine (inngest/embedded). --------------------------------------------
-- A run has a key, which is also the key of its job in graphile-worker. Any change to the runs of a limit holds the
-- limit's advisory lock, so that no place is given twice. Limits are locked in sorted order, which prevents deadlocks.
CREATE FUNCTION capstan_lock_limits(p_limits text[]) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended('run_slot ' || name, 0))
  FROM (SELECT DISTINCT name FROM unnest(p_limits) name ORDER BY 1) limits
$$;

-- Gives the free places under each limit to the runs that have waited longest, and wakes them. The caller holds the
-- locks. Sequential and bitmap scans are off, because a planner that last saw few rows would read all of them.
CREATE FUNCTION capstan_grant_turns(p_limits text[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE v_limit text; v_granted text[];
BEGIN
  FOREACH v_limit IN ARRAY p_limits LOOP
    WITH granted AS (
      UPDATE run_slot SET has_turn = true WHERE key = ANY(ARRAY(
        SELECT key FROM run_slot WHERE limit_key = v_limit AND NOT has_turn ORDER BY since, key LIMIT greatest(0,
          (SELECT places FROM run_slot WHERE limit_key = v_limit AND NOT has_turn ORDER BY since, key LIMIT 1)
          - (SELECT count(*) FROM run_slot WHERE limit_key = v_limit AND has_turn))))
      RETURNING key
    ) SELECT array_agg(key) INTO v_granted FROM granted;
    CONTINUE WHEN v_granted IS NULL;
    -- The queue never gives a job up: the engine counts retries.
    PERFORM graphile_worker.add_jobs(array_agg((task, (payload || '{"hasTurn": true}')::json, NULL, NULL, 32767, key,
        NULL, NULL)::graphile_worker.job_spec ORDER BY key))
      FROM run_slot WHERE key = ANY(v_granted);
  END LOOP;
END $$;

-- Wakes runs, [{key, limit_key, places, task, payload}], with each key once. A run that waits for its turn is not woken
-- twice; an active run starts again afterwards.
CREATE FUNCTION capstan_wake(p_wakes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_limits text[] := ARRAY(SELECT DISTINCT wake->>'limit_key' FROM jsonb_array_elements(p_wakes) wake);
BEGIN
  PERFORM capstan_lock_limits(v_limits);
  INSERT INTO run_slot (key, limit_key, places, task, payload)
    SELECT key, limit_key, places, task, payload FROM jsonb_populate_recordset(NULL::run_slot, p_wakes)
    ON CONFLICT (key) DO UPDATE SET again = true WHERE run_slot.has_turn;
  PERFORM capstan_grant_turns(v_limits);
END $$;

-- Takes a turn for a run that may have none because it slept or its worker died. Returns false if the run now waits for
-- a turn.
CREATE FUNCTION capstan_take_turn(p_wake jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE w run_slot := jsonb_populate_record(NULL::run_slot, p_wake);
BEGIN
  PERFORM capstan_lock_limits(ARRAY[w.limit_key]);
  INSERT INTO run_slot (key, limit_key, places, task, payload, has_turn)
    SELECT w.key, w.limit_key, w.places, w.task, w.payload, held.count < w.places AND NOT EXISTS (
      SELECT FROM run_slot WHERE limit_key = w.limit_key AND NOT has_turn)
    FROM (SELECT count(*) FROM run_slot WHERE limit_key = w.limit_key AND has_turn) held
    ON CONFLICT (key) DO NOTHING;
  RETURN (SELECT has_turn FROM run_slot WHERE key = w.key);
END $$;

-- Ends a run's turn and gives its place to the run that has waited longest. A run that was woken during its turn waits
-- for another one; otherwise, with a delay, its job is queued for that time unless another wake has already queued it.
CREATE FUNCTION capstan_end_turn(p_wake jsonb, p_after_ms float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE w run_slot := jsonb_populate_record(NULL::run_slot, p_wake);
BEGIN
  PERFORM capstan_lock_limits(ARRAY[w.limit_key]);
  UPDATE run_slot SET has_turn = false, again = false, since = now(), payload = w.payload
    WHERE key = w.key AND has_turn AND again;
  DELETE FROM run_slot WHERE key = w.key AND has_turn;
  IF p_after_ms IS NOT NULL AND NOT EXISTS (SELECT FROM run_slot WHERE key = w.key)
      AND NOT EXISTS (SELECT FROM graphile_worker.jobs job WHERE job.key = w.key AND locked_at IS NULL) THEN
    PERFORM graphile_worker.add_job(w.task, w.payload::json, NULL, now() + p_after_ms * interval '1 millisecond', 32767, w.key);
  END IF;
  PERFORM capstan_grant_turns(ARRAY[w.limit_key]);
END $$;

-- Repairs the state after crashes. Jobs that this worker has locked but does not run are unlocked, because the database
-- lost their end. Runs without a job lose their place, and jobs that were replaced while a dead worker had them are
-- removed.
CREATE FUNCTION capstan_tidy_turns(p_worker text, p_at_work bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_limits text[] := ARRAY(SELECT DISTINCT limit_key FROM run_slot);
BEGIN
  UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL
    WHERE locked_by = p_worker AND locked_at < now() - interval '1 minute' AND id <> ALL(p_at_work);
  PERFORM capstan_lock_limits(v_limits);
  DELETE FROM run_slot WHERE has_turn AND limit_key = ANY(v_limits)
    AND NOT EXISTS (SELECT FROM graphile_worker.jobs job WHERE job.key = run_slot.key);
  PERFORM capstan_grant_turns(v_limits);
  PERFORM graphile_worker.complete_jobs(ARRAY(
    SELECT id FROM graphile_worker.jobs WHERE locked_at IS NULL AND attempts >= max_attempts));
END $$;
