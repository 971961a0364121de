-- The ledger keeps one row a transaction, whose postings the database itself holds to a sum of zero.

-- A transaction of the ledger: what it takes from one account it gives to others, in each currency.
CREATE FUNCTION capstan_is_balanced(postings jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN jsonb_array_length(postings) BETWEEN 2 AND 64 AND NOT EXISTS (
    SELECT FROM jsonb_to_recordset(postings) AS p(account text, amount_micros bigint, kind text, currency text)
    GROUP BY coalesce(p.currency, 'USD')
    HAVING sum(p.amount_micros) <> 0 OR max(p.currency) !~ '^[A-Z]{3}$'
      OR bool_or(p.account IS NULL OR p.amount_micros IS NULL OR p.kind IS NULL));
END $$;
CREATE DOMAIN "ledger_postings" AS jsonb CONSTRAINT "postings_sum_to_zero" CHECK (capstan_is_balanced(VALUE));

CREATE TABLE "ledger_transaction" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "job_id" TEXT,
    "hold_id" TEXT,
    "payment_id" TEXT,
    "account" TEXT NOT NULL,
    "postings" JSONB NOT NULL,
    "pricing_version" TEXT,
    "is_test" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_transaction_pkey" PRIMARY KEY ("account","id")
);
SELECT capstan_restrict('ledger_transaction.postings', 'ledger_postings');

DO $$
DECLARE
  unbalanced text := (SELECT transaction_id FROM ledger_entry GROUP BY transaction_id, currency HAVING sum(amount_micros) <> 0
    ORDER BY min(id) LIMIT 1);
BEGIN
  IF unbalanced IS NOT NULL THEN
    RAISE EXCEPTION 'the ledger has a transaction that does not sum to zero (%). Start the version before this one, look for it with `npm run admin -- check-ledger`, and correct it first', unbalanced;
  END IF;
END $$;

-- Each keeps the numbers that its postings have had; the organization's own comes first.
INSERT INTO ledger_transaction (id, transaction_id, organization_id, project_id, job_id, hold_id, payment_id, account, postings,
  pricing_version, is_test, created_at)
SELECT (array_agg(e.id ORDER BY e.is_others, e.id))[1], e.transaction_id, min(e.organization_id), min(e.project_id), min(e.job_id),
  min(e.hold_id), min(e.payment_id), (array_agg(e.account ORDER BY e.is_others, e.id))[1],
  jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', e.id, 'account', e.account, 'amount_micros', e.amount_micros,
    'kind', e.kind, 'currency', nullif(e.currency::text, 'USD'))) ORDER BY e.is_others, e.id),
  min(e.pricing_version), bool_or(e.is_test), min(e.created_at)
FROM (SELECT *, account NOT IN ('wallet:' || organization_id, 'allowance:' || organization_id, 'external:' || organization_id)
  AS is_others FROM ledger_entry) e
GROUP BY e.transaction_id;

ALTER SEQUENCE "ledger_transaction_id_seq" INCREMENT BY 64;
SELECT setval('ledger_transaction_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM ledger_entry), false);

DROP VIEW "account_line";
DROP TABLE "ledger_entry";
CREATE UNIQUE INDEX "ledger_transaction_of_payment" ON "ledger_transaction" ("transaction_id") WHERE "payment_id" IS NOT NULL;
CREATE INDEX "ledger_transaction_of_hold" ON "ledger_transaction" ("hold_id") WHERE "hold_id" IS NOT NULL;
CREATE TRIGGER "ledger_transaction_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transaction"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
ALTER TABLE "ledger_transaction" ALTER COLUMN "postings" SET STATISTICS 0;

-- The ledger, one row a posting.
CREATE VIEW "ledger_entry" WITH (security_invoker = true) AS
SELECT coalesce((p.value->>'id')::bigint, t.id + p.position - 1) AS id, t.transaction_id, t.organization_id, t.project_id, t.job_id,
  t.hold_id, t.payment_id, p.value->>'account' AS account, (p.value->>'amount_micros')::bigint AS amount_micros,
  coalesce(p.value->>'currency', 'USD') AS currency, p.value->>'kind' AS kind, t.pricing_version, t.is_test, t.created_at
FROM ledger_transaction t, jsonb_array_elements(t.postings) WITH ORDINALITY AS p(value, position);

-- What moved wallets and allowances, as lists have it. A comparison's line is where its first charge is, in one of the two.
CREATE VIEW "account_line" WITH (security_invoker = true) AS
SELECT t.id, t.transaction_id, t.organization_id, t.project_id, t.job_id, NULL AS comparison_id, t.payment_id, t.account,
  (t.postings->0->>'amount_micros')::bigint AS amount_micros, coalesce(t.postings->0->>'currency', 'USD') AS currency,
  t.postings->0->>'kind' AS kind, t.pricing_version, t.is_test, t.created_at
FROM ledger_transaction t LEFT JOIN job j ON j.id = t.job_id
WHERE j.is_blind IS NOT TRUE
UNION ALL
SELECT min(t.id), j.comparison_id, j.organization_id, j.project_id, NULL, j.comparison_id, NULL, max(t.account),
  sum((t.postings->0->>'amount_micros')::bigint)::bigint, 'USD', 'charge', NULL, t.is_test, min(j.created_at)
FROM job j JOIN hold h ON h.execution_id = j.id
JOIN ledger_transaction t ON t.hold_id = h.id AND t.account IN ('wallet:' || j.organization_id, 'allowance:' || j.organization_id)
WHERE j.is_blind
GROUP BY j.comparison_id, j.organization_id, j.project_id, t.is_test;

SELECT capstan_guard_tenants();
