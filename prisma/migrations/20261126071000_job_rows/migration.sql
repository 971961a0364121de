-- A job's row is written several times, and its indexes with it. The sealed quote, which is most of the row and never changes,
-- comes last: an update on the same page then logs only what is before it.

DROP VIEW "account_line";
DROP VIEW "hold_line";
DROP VIEW "execution";
ALTER TABLE "job" ADD COLUMN "pricing_at_end" jsonb;
ALTER TABLE "job" ALTER COLUMN "pricing_at_end" TYPE jsonb USING "pricing";
ALTER TABLE "job" ALTER COLUMN "pricing_at_end" SET NOT NULL, ALTER COLUMN "pricing_at_end" SET STATISTICS 0;
ALTER TABLE "job" DROP COLUMN "pricing";
ALTER TABLE "job" RENAME COLUMN "pricing_at_end" TO "pricing";
-- Two rows of a page leave room for a third: the next version of one of them.
ALTER TABLE "job" SET (fillfactor = 65);
-- Every hold is written once more, when it ends.
ALTER TABLE "hold" SET (fillfactor = 70);

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

CREATE VIEW "hold_line" WITH (security_invoker = true) AS
SELECT h.*, x.capability_key, x.status
FROM hold h LEFT JOIN execution x ON x.id = h.execution_id
WHERE h.state IN ('open', 'ambiguous') AND x.line_id IS NOT DISTINCT FROM x.id
UNION ALL
SELECT min(h.id), h.organization_id, h.project_id, j.comparison_id, h.principal_id, h.person_id, h.billing_mode, '{}'::text[],
  h.is_test, NULL, sum(h.amount_micros)::bigint, CASE WHEN bool_or(h.state = 'open') THEN 'open' ELSE 'ambiguous' END, NULL::bigint,
  min(h.created_at), NULL, NULL, NULL, NULL, j.capability_key, NULL
FROM job j JOIN hold h ON h.execution_id = j.id
WHERE j.is_blind AND h.state IN ('open', 'ambiguous')
GROUP BY h.organization_id, h.project_id, j.comparison_id, h.principal_id, h.person_id, h.billing_mode, h.is_test, j.capability_key;

CREATE VIEW "account_line" WITH (security_invoker = true) AS
SELECT e.id, e.transaction_id, e.organization_id, e.project_id, e.job_id, NULL AS comparison_id, e.payment_id, e.account,
  e.amount_micros, e.currency::text AS currency, e.kind, e.pricing_version, e.is_test, e.created_at
FROM ledger_entry e LEFT JOIN job j ON j.id = e.job_id
WHERE j.is_blind IS NOT TRUE
UNION ALL
SELECT min(e.id), j.comparison_id, j.organization_id, j.project_id, NULL, j.comparison_id, NULL, max(e.account),
  sum(e.amount_micros)::bigint, 'USD', 'charge', NULL, e.is_test, min(j.created_at)
FROM job j JOIN hold h ON h.execution_id = j.id
JOIN ledger_entry e ON e.hold_id = h.id AND e.account IN ('wallet:' || j.organization_id, 'allowance:' || j.organization_id)
WHERE j.is_blind
GROUP BY j.comparison_id, j.organization_id, j.project_id, e.is_test;

-- Lists by status, and the leases of what runs: an execution is written to one of them once, and a successful one leaves no
-- entry at its end. No index names the lease, so that renewing it writes to none.
DROP INDEX "job_project_id_status_id_idx";
DROP INDEX "job_leases";
CREATE INDEX "job_unfinished" ON "job" ("project_id", "status", "id" DESC) WHERE "completed_at" IS NULL;
CREATE INDEX "job_unsuccessful" ON "job" ("project_id", "status", "id" DESC) WHERE "status" IN ('failed', 'canceled');

CREATE OR REPLACE FUNCTION capstan_active(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs' AND job.completed_at IS NULL);

CREATE OR REPLACE FUNCTION capstan_running(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs' AND job.completed_at IS NULL
    AND job.status IN ('running', 'canceling'));

CREATE OR REPLACE FUNCTION capstan_take(items plan_taking[]) RETURNS void LANGUAGE plpgsql AS $$
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

SELECT capstan_guard_tenants();
