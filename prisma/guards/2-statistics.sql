-- Statistics. --------------------------------------------------------------------------------------------
-- Each execution adds to these tables, so they are analyzed again and again, which takes a second of CPU time per large
-- table. A quarter of the usual sample is enough to choose between their indexes, and columns that no statement filters
-- by need no statistics.
DO $$
DECLARE
  sampled record;
BEGIN
  FOR sampled IN
    SELECT a.attrelid::regclass AS name, a.attname AS column_name, t.typname = 'jsonb' OR a.attname IN ('content', 'body', 'signature',
      'text', 'data') AS is_never_looked_for
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY(ARRAY['job', 'event', 'event_text', 'stream_frame',
      'attempt', 'payload', 'receipt', 'artifact', 'job_artifact', 'pinned_hold', 'ledger_transaction', 'pinned_execution', 'pinned_attempt',
      'pinned_record', 'delivery', 'delivery_attempt', 'run_slot']::regclass[])
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', sampled.name, sampled.column_name,
      CASE WHEN sampled.is_never_looked_for THEN 0 ELSE 25 END);
  END LOOP;
END $$;
