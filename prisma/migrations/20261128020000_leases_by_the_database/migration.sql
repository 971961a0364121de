-- AlterTable
ALTER TABLE "periodic_task" ADD COLUMN     "late_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "released_key" TEXT;

-- AlterTable
ALTER TABLE "pinned_execution" ADD COLUMN     "released_key" TEXT;

CREATE INDEX "job_released_key" ON "job" ("project_id", "released_key") WHERE "released_key" IS NOT NULL;

-- Of an ambiguous hold whose process knows that nothing was sent.
ALTER DOMAIN "hold_resolution" DROP CONSTRAINT "hold_resolution_known";
ALTER DOMAIN "hold_resolution" ADD CONSTRAINT "hold_resolution_known" CHECK (VALUE IN
  ('person', 'late_answer', 'asked_again', 'written_off', 'never_sent'));

-- The key of what was never sent is free again.
CREATE OR REPLACE FUNCTION capstan_refuse_change_of_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The key of a pinned execution that was never sent is free again, and nothing else of its row changes.
  IF TG_TABLE_NAME = 'pinned_execution' AND to_jsonb(OLD)->>'idempotency_key' IS NOT NULL AND to_jsonb(NEW) = to_jsonb(OLD)
    || jsonb_build_object('idempotency_key', NULL, 'released_key', to_jsonb(OLD)->'idempotency_key') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% % has ended and cannot be changed', TG_TABLE_NAME, OLD."id"
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- Leases begin and end by the clock of the database. Processes of the version before call these with moments of their own
-- clock: how far they are apart is the same by every clock.
CREATE OR REPLACE FUNCTION capstan_claim_items(bulk text, bulk_fence integer, owner text, wanted integer, until timestamptz, moment timestamptz)
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

CREATE OR REPLACE FUNCTION capstan_join(hash text, request text, process bigint, retries integer, awaits_end boolean, moment timestamptz,
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

SELECT capstan_guard_tenants();
