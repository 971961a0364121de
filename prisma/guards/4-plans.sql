-- Limits of plans. ----------------------------------------------------------------------------------------
-- The statement that admits an execution also checks its limit: it holds the organization's lock until the end of the
-- transaction, so concurrent admissions cannot exceed it. Without limits none of this is called.

CREATE TYPE "plan_taking" AS ("organization_id" text, "id" text, "most_active" integer, "most_inferences" integer,
  "wanted" integer, "created_at" timestamptz);

-- Email addresses that take a seat: members, and open invitations.
CREATE FUNCTION capstan_seats(organization text, moment timestamptz) RETURNS SETOF text LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT email FROM membership JOIN user_account ON user_account.id = user_id WHERE organization_id = organization
  UNION SELECT email FROM invitation
  WHERE organization_id = organization AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > moment;
END;

-- Durable jobs of an organization that have not ended. The query goes through projects because their index finds the
-- jobs.
CREATE FUNCTION capstan_active(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs' AND job.completed_at IS NULL);

CREATE FUNCTION capstan_running(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs' AND job.completed_at IS NULL
    AND job.status IN ('running', 'canceling'));

-- Reserves the plan limits for these admissions, whose jobs the same statement has already written; raises CB429 if a
-- limit is exceeded. Locks are always taken in one order: organizations by id, first for their jobs, then for their
-- hour.
CREATE FUNCTION capstan_take(items plan_taking[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due record;
  counted integer;
BEGIN
  FOR due IN
    SELECT i.organization_id, min(i.most_active) AS most, array_agg(i.id) AS ids
    FROM unnest(items) i WHERE i.most_active IS NOT NULL GROUP BY 1 ORDER BY 1
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('active ' || due.organization_id, 0));
    SELECT count(*) INTO counted FROM job JOIN project ON project.id = job.project_id
    WHERE project.organization_id = due.organization_id AND operation = 'jobs' AND job.id <> ALL (due.ids)
      AND job.completed_at IS NULL;
    IF counted + cardinality(due.ids) > due.most THEN
      RAISE EXCEPTION 'the plan of % has no room', due.organization_id USING ERRCODE = 'CB429', DETAIL = jsonb_build_object(
        'kind', 'active', 'current', counted, 'most', due.most, 'retryAfterSeconds', 1,
        'settings', (SELECT settings FROM organization WHERE id = due.organization_id))::text;
    END IF;
  END LOOP;
  FOR due IN
    SELECT i.organization_id, min(i.most_inferences) AS most, sum(i.wanted)::int AS wanted,
      date_trunc('hour', max(i.created_at), 'UTC') AS hour, max(i.created_at) AS moment
    FROM unnest(items) i WHERE i.most_inferences IS NOT NULL GROUP BY 1 ORDER BY 1
  LOOP
    INSERT INTO inference_hour AS h (organization_id, hour, count) VALUES (due.organization_id, due.hour, 0)
    ON CONFLICT (organization_id) DO UPDATE SET hour = excluded.hour, count = 0 WHERE h.hour < excluded.hour;
    UPDATE inference_hour h SET count = h.count + due.wanted
    WHERE h.organization_id = due.organization_id AND h.count + due.wanted <= due.most;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the plan of % has no room', due.organization_id USING ERRCODE = 'CB429', DETAIL = jsonb_build_object(
        'kind', 'inferences', 'current', (SELECT h.count FROM inference_hour h WHERE h.organization_id = due.organization_id),
        'most', due.most,
        'retryAfterSeconds', greatest(1, ceil(extract(epoch FROM due.hour + interval '1 hour' - due.moment))::int),
        'settings', (SELECT settings FROM organization WHERE id = due.organization_id))::text;
    END IF;
  END LOOP;
END $$;

-- Number of further jobs that each of these organizations can start now. The caller must start them in the same
-- transaction.
CREATE FUNCTION capstan_rooms(organizations text[], limits integer[])
RETURNS TABLE ("organization_id" text, "room" integer) LANGUAGE plpgsql ROWS 2 AS $$
DECLARE
  due record;
BEGIN
  FOR due IN
    SELECT x.id, min(x.most) AS most FROM unnest(organizations, limits) AS x (id, most) WHERE x.most IS NOT NULL GROUP BY 1 ORDER BY 1
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('running ' || due.id, 0));
    organization_id := due.id;
    room := due.most - capstan_running(due.id);
    RETURN NEXT;
  END LOOP;
END $$;

-- Counts jobs that are being admitted, one per mention of their session; raises CB402 above a session's limit, and
-- nothing is written. An admission locks sessions last, in the order of their ids, and ending a job locks none, so no
-- deadlock is possible.
CREATE FUNCTION capstan_count_panel_jobs(sessions text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due record;
BEGIN
  FOR due IN SELECT id, count(*)::integer AS jobs FROM unnest(sessions) AS id GROUP BY 1 ORDER BY 1 LOOP
    UPDATE panel_session s SET admitted_jobs = s.admitted_jobs + due.jobs
    WHERE s.id = due.id AND s.admitted_jobs + due.jobs <= s.max_jobs;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'panel session % has no jobs left', due.id USING ERRCODE = 'CB402',
        DETAIL = jsonb_build_object('maxJobs', (SELECT s.max_jobs FROM panel_session s WHERE s.id = due.id))::text;
    END IF;
  END LOOP;
END $$;
