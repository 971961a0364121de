-- How an ambiguous hold ended: a person, a late answer, the provider that was asked again, or written off.

-- AlterTable
ALTER TABLE "hold" ADD COLUMN     "resolution" TEXT;

CREATE DOMAIN "hold_resolution" AS text CONSTRAINT "hold_resolution_known" CHECK (VALUE IN
  ('person', 'late_answer', 'asked_again', 'written_off'));
SELECT capstan_restrict('hold.resolution', 'hold_resolution');

-- Few holds are ambiguous, and many end each second: a BRIN index finds the former and costs the latter nothing.
CREATE INDEX "hold_ambiguous" ON "hold" USING brin ("created_at") WHERE "state" = 'ambiguous' OR "resolution" = 'written_off';

DROP VIEW "hold_line";
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

SELECT capstan_guard_tenants();
