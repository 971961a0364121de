-- Times that an earlier version stored in a zone that is not UTC. ------------------------------------------

-- The time in an id, whose ULID begins with milliseconds since 1970. Null for other ids.
CREATE FUNCTION capstan_time_of_id(id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT
RETURN (
  SELECT to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', digit) - 1)::bigint << (50 - 5 * place::integer)) / 1000.0)
  FROM unnest(string_to_array(left(right(id, 26), 10), NULL)) WITH ORDINALITY AS digits(digit, place)
  WHERE id ~ '_[0-9a-hjkmnp-tv-z]{26}$');

-- Seconds by which a time zone made a stored time too late, given the true time to the minute: a multiple of a quarter
-- of an hour, between UTC-12 and UTC+14. Null if the time was stored in UTC.
CREATE FUNCTION capstan_zone_error(stored timestamptz, real_time timestamptz) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN (
  SELECT (900 * quarters)::integer FROM (SELECT extract(epoch FROM stored - real_time) AS seconds) AS difference,
    LATERAL (SELECT round(seconds / 900) AS quarters) AS rounded
  WHERE quarters <> 0 AND quarters BETWEEN -56 AND 48 AND abs(seconds - 900 * quarters) < 60);

-- Moves times to UTC that Prisma wrote on connections in another time zone; statements of our own have always stored
-- the right time. `zone` is that time zone if known, so that an end on the other side of a clock change is moved by its
-- own offset. A second run moves nothing twice. Each moved row is recorded in corrected_time, and the counts are
-- reported.
CREATE FUNCTION capstan_correct_times(zone text DEFAULT 'UTC') RETURNS void LANGUAGE plpgsql
SET TimeZone = 'UTC' AS $$
DECLARE
  moment constant timestamptz(3) := clock_timestamp();
  dated constant text[] := ARRAY['organization', 'project', 'environment', 'user_account'];
  named text;
  tally record;
BEGIN
  PERFORM set_config('capstan.project_id', '*', true);
  FOREACH named IN ARRAY dated || ARRAY['api_key', 'budget'] LOOP
    EXECUTE format(
      'INSERT INTO corrected_time SELECT %L, id, seconds, $1 FROM %I, capstan_zone_error(created_at, capstan_time_of_id(id)) AS seconds
       WHERE seconds IS NOT NULL ON CONFLICT (table_name, row_id) DO UPDATE SET moved_seconds = excluded.moved_seconds,
         corrected_at = excluded.corrected_at', named, named) USING moment;
  END LOOP;
  IF NOT EXISTS (SELECT FROM corrected_time WHERE corrected_at = moment) THEN RETURN; END IF;

  -- A membership has no id of its own. The audit entry of the same transaction has the right time.
  INSERT INTO corrected_time
  SELECT 'membership', user_id || '/' || organization_id, seconds, moment FROM membership, LATERAL (
    SELECT capstan_zone_error(membership.created_at, entry.created_at) AS seconds FROM audit_entry entry
    WHERE entry.subject IN (membership.user_id, membership.organization_id) AND entry.organization_id = membership.organization_id
      AND (entry.action = 'member.added' AND entry.subject = membership.user_id
        OR entry.action = 'organization.created' AND entry.actor_id = membership.user_id)
    ORDER BY entry.id DESC LIMIT 1) AS added
  WHERE seconds IN (SELECT moved_seconds FROM corrected_time WHERE corrected_at = moment)
  ON CONFLICT DO NOTHING;
  -- The id of a signing key is a hash. It was written in the zone of the row that was stored nearest to it.
  INSERT INTO corrected_time
  SELECT 'signing_key', signing_key.id, seconds, moment FROM signing_key, LATERAL (
    SELECT capstan_zone_error(near.created_at, capstan_time_of_id(near.id)) AS seconds FROM (
      SELECT id, created_at FROM organization UNION ALL SELECT id, created_at FROM project
      UNION ALL SELECT id, created_at FROM user_account UNION ALL SELECT id, created_at FROM api_key) AS near
    ORDER BY abs(extract(epoch FROM near.created_at - signing_key.created_at)) LIMIT 1) AS nearest
  WHERE seconds IS NOT NULL
  ON CONFLICT DO NOTHING;

  UPDATE user_account SET founded_at = founded_at - seconds * interval '1 second' FROM (
    SELECT person.id, capstan_zone_error(person.founded_at, entry.created_at) AS seconds FROM user_account person
    JOIN audit_entry entry ON entry.actor_id = person.id AND entry.action = 'organization.created') AS founder
  WHERE user_account.id = founder.id AND seconds IN (SELECT moved_seconds FROM corrected_time WHERE corrected_at = moment);
  -- A rotated key has given its budgets to the next at the moment of its creation.
  UPDATE budget SET updated_at = updated_at - moved_seconds * interval '1 second' FROM api_key
  JOIN corrected_time ON table_name = 'api_key' AND row_id = api_key.id AND corrected_at = moment
  WHERE budget.scope = 'principal:' || api_key.id AND budget.updated_at = api_key.created_at;
  UPDATE budget SET created_at = created_at - moved_seconds * interval '1 second',
    updated_at = updated_at - CASE WHEN updated_at = created_at THEN moved_seconds ELSE 0 END * interval '1 second'
  FROM corrected_time WHERE table_name = 'budget' AND row_id = budget.id AND corrected_at = moment;
  -- A key is retired by the next, at the moment of its creation.
  UPDATE signing_key SET created_at = signing_key.created_at - coalesce(own.moved_seconds, 0) * interval '1 second',
    retired_at = signing_key.retired_at - coalesce(later.moved_seconds, 0) * interval '1 second'
  FROM signing_key known
  LEFT JOIN corrected_time own ON own.table_name = 'signing_key' AND own.row_id = known.id AND own.corrected_at = moment
  LEFT JOIN signing_key next ON next.created_at = known.retired_at
  LEFT JOIN corrected_time later ON later.table_name = 'signing_key' AND later.row_id = next.id AND later.corrected_at = moment
  WHERE signing_key.id = known.id AND (own.row_id IS NOT NULL OR later.row_id IS NOT NULL);
  UPDATE membership SET created_at = created_at - moved_seconds * interval '1 second'
  FROM corrected_time
  WHERE table_name = 'membership' AND row_id = user_id || '/' || organization_id AND corrected_at = moment;
  UPDATE api_key SET created_at = real_start,
    expires_at = CASE WHEN management IS NULL THEN real_end ELSE least(real_end, real_start + interval '2160 hours') END,
    revoked_at = real_revoked
  FROM (
    SELECT id AS key_id, real_start,
      CASE WHEN is_of_zone THEN expires_at AT TIME ZONE zone AT TIME ZONE 'UTC' ELSE expires_at - error END AS real_end,
      CASE WHEN is_of_zone THEN revoked_at AT TIME ZONE zone AT TIME ZONE 'UTC' ELSE revoked_at - error END AS real_revoked
    FROM api_key JOIN corrected_time ON table_name = 'api_key' AND row_id = id AND corrected_at = moment,
      LATERAL (SELECT moved_seconds * interval '1 second' AS error) AS moved,
      LATERAL (SELECT created_at - error AS real_start,
        created_at AT TIME ZONE zone AT TIME ZONE 'UTC' = created_at - error AS is_of_zone) AS started
  ) AS correct
  WHERE api_key.id = key_id;
  FOREACH named IN ARRAY dated LOOP
    EXECUTE format('UPDATE %I SET created_at = created_at - moved_seconds * interval ''1 second'' FROM corrected_time
      WHERE table_name = %L AND row_id = id AND corrected_at = $1', named, named) USING moment;
  END LOOP;

  FOR tally IN SELECT table_name, count(*) AS rows FROM corrected_time WHERE corrected_at = moment GROUP BY 1 ORDER BY 1 LOOP
    RAISE INFO 'Moved to UTC: the times of % row(s) of %', tally.rows, tally.table_name;
  END LOOP;
END $$;
