-- What Prisma's schema language cannot say. `npm run migrate -- init` appends this file to 0001_init;
-- after the first release, changes to it are written by hand into the next migration.

-- Words and numbers a column may hold. -------------------------------------------------------------------
-- Domains, and not CHECK constraints of the tables: PostgreSQL reads the text of every CHECK of a table again for each
-- statement that writes to it, which was a seventh of what an admission costs; a domain's is kept.

CREATE FUNCTION capstan_restrict(column_name text, domain_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE %I',
    split_part(column_name, '.', 1), split_part(column_name, '.', 2), domain_name);
END $$;

CREATE DOMAIN "amount_micros" AS bigint CONSTRAINT "amount_not_negative" CHECK (VALUE >= 0);
CREATE DOMAIN "amount_of_bytes" AS bigint CONSTRAINT "bytes_not_negative" CHECK (VALUE >= 0);
CREATE DOMAIN "ordinal" AS integer CONSTRAINT "ordinal_positive" CHECK (VALUE > 0);
CREATE DOMAIN "sha256_hex" AS text CONSTRAINT "sha256_form" CHECK (VALUE ~ '^[0-9a-f]{64}$');
CREATE DOMAIN "currency_code" AS text CONSTRAINT "currency_form" CHECK (VALUE ~ '^[A-Z]{3}$');
CREATE DOMAIN "job_status" AS text CONSTRAINT "job_status_known" CHECK (VALUE IN
  ('queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'canceling', 'canceled', 'needs_attention'));
CREATE DOMAIN "job_operation" AS text CONSTRAINT "job_operation_known" CHECK (VALUE IN ('jobs', 'invoke'));
CREATE DOMAIN "job_mode" AS text CONSTRAINT "job_mode_known" CHECK (VALUE IN ('invoke_sync', 'invoke_stream', 'job_async'));
CREATE DOMAIN "dispatch_state" AS text CONSTRAINT "dispatch_state_known" CHECK (VALUE IN ('pending', 'sent', 'none'));
CREATE DOMAIN "billing_mode" AS text CONSTRAINT "billing_mode_known" CHECK (VALUE IN ('managed', 'byok'));
CREATE DOMAIN "principal_kind" AS text CONSTRAINT "principal_kind_known" CHECK (VALUE IN
  ('anonymous', 'service_principal', 'human_session', 'panel_session', 'system'));
CREATE DOMAIN "submission" AS text CONSTRAINT "submission_known" CHECK (VALUE IN ('not_attempted', 'ambiguous', 'attempted'));
CREATE DOMAIN "payload_kind" AS text CONSTRAINT "payload_kind_known" CHECK (VALUE IN
  ('request', 'output', 'input', 'answer'));
CREATE DOMAIN "hold_state" AS text CONSTRAINT "hold_state_known" CHECK (VALUE IN ('open', 'settled', 'released', 'ambiguous'));
CREATE DOMAIN "delivery_state" AS text CONSTRAINT "delivery_state_known" CHECK (VALUE IN
  ('pending', 'delivering', 'succeeded', 'failed', 'disabled'));
CREATE DOMAIN "budget_period" AS text CONSTRAINT "budget_period_known" CHECK (VALUE IN ('day', 'month', 'total'));
CREATE DOMAIN "budget_enforcement" AS text CONSTRAINT "budget_enforcement_known" CHECK (VALUE IN ('off', 'warn', 'prevent'));
CREATE DOMAIN "member_role" AS text CONSTRAINT "member_role_known" CHECK (VALUE IN ('owner', 'admin', 'member', 'viewer'));

SELECT capstan_restrict(column_name, domain_name) FROM (VALUES
  ('job.status', 'job_status'), ('job.operation', 'job_operation'), ('job.mode', 'job_mode'),
  ('job.dispatch_state', 'dispatch_state'), ('job.billing_mode', 'billing_mode'),
  ('job.principal_kind', 'principal_kind'), ('job.estimated_micros', 'amount_micros'),
  ('job.maximum_micros', 'amount_micros'), ('job.actual_micros', 'amount_micros'),
  ('job_event.id', 'ordinal'), ('attempt.number', 'ordinal'), ('attempt.submission', 'submission'),
  ('payload.kind', 'payload_kind'), ('artifact.sha256', 'sha256_hex'), ('artifact.byte_length', 'amount_of_bytes'),
  ('hold.state', 'hold_state'), ('hold.amount_micros', 'amount_micros'), ('hold.settled_micros', 'amount_micros'),
  ('budget.period', 'budget_period'), ('budget.enforcement', 'budget_enforcement'),
  ('budget.ceiling_micros', 'amount_micros'), ('budget.held_micros', 'amount_micros'),
  ('budget.settled_micros', 'amount_micros'), ('ledger_entry.currency', 'currency_code'),
  ('stream_frame.id', 'ordinal'), ('delivery.state', 'delivery_state'), ('membership.role', 'member_role')
) AS restricted(column_name, domain_name);

-- What concerns two columns, or is seldom written, stays a CHECK.
ALTER TABLE "job" ADD CONSTRAINT "job_completed_when_terminal" CHECK
  ("completed_at" IS NOT NULL OR "status" NOT IN ('succeeded', 'failed', 'canceled'));
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_hash_is_sha256" CHECK (octet_length("hash") = 32);

-- Rows of a few kilobytes stay as they are: compressing them was a fifth of the work of an execution.
ALTER TABLE "job" SET (toast_tuple_target = 8160);
ALTER TABLE "attempt" SET (toast_tuple_target = 8160);
ALTER TABLE "payload" SET (toast_tuple_target = 8160);
ALTER TABLE "receipt" SET (toast_tuple_target = 8160);

-- History is only added to. ------------------------------------------------------------------------------

CREATE FUNCTION capstan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER "job_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "job_event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "receipt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "receipt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- One key signs; those before it stay.
CREATE UNIQUE INDEX "signing_key_one_active" ON "signing_key" (("retired_at" IS NULL)) WHERE "retired_at" IS NULL;
CREATE TRIGGER "delivery_attempt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "delivery_attempt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "retail_quote_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "retail_quote"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "hold_never_deleted" BEFORE DELETE OR TRUNCATE ON "hold"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();

-- A hold ends once, and never changes what it holds.
CREATE FUNCTION capstan_guard_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."state" IN ('settled', 'released') THEN
    RAISE EXCEPTION 'hold % is already %', OLD."id", OLD."state" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD."state" = 'ambiguous' AND NEW."state" = 'open' THEN
    RAISE EXCEPTION 'hold % cannot go from ambiguous to open', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (NEW."id", NEW."organization_id", NEW."project_id", NEW."execution_id", NEW."amount_micros", NEW."created_at")
     IS DISTINCT FROM
     (OLD."id", OLD."organization_id", OLD."project_id", OLD."execution_id", OLD."amount_micros", OLD."created_at") THEN
    RAISE EXCEPTION 'hold %: only its state may change', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "hold_moves" BEFORE UPDATE ON "hold" FOR EACH ROW EXECUTE FUNCTION capstan_guard_hold();

CREATE FUNCTION capstan_refuse_terminal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % is already %', OLD."id", OLD."status" USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "job_terminal_status_stays" BEFORE UPDATE OF "status" ON "job" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'failed', 'canceled') AND NEW."status" IS DISTINCT FROM OLD."status")
  EXECUTE FUNCTION capstan_refuse_terminal_change();

-- What the workers ask all the time. ---------------------------------------------------------------------

CREATE INDEX "job_to_dispatch" ON "job" ("dispatch_after") WHERE "dispatch_state" = 'pending';
CREATE INDEX "job_leases" ON "job" ("lease_until") WHERE "status" IN ('running', 'canceling');
CREATE INDEX "job_queue_deadlines" ON "job" ("queue_deadline_at") WHERE "status" = 'queued';
CREATE INDEX "job_unfinished" ON "job" ("project_id")
  WHERE "status" IN ('queued', 'running', 'awaiting_approval', 'canceling', 'needs_attention');
CREATE INDEX "job_tags" ON "job" USING gin ("tags") WHERE "tags" <> '{}';
CREATE INDEX "job_approval_deadlines" ON "job" ("approval_deadline_at") WHERE "status" = 'awaiting_approval';
CREATE INDEX "job_webhook_behind" ON "job" ("id") WHERE "webhook_event" < "last_event";
CREATE INDEX "delivery_due" ON "delivery" ("next_attempt_at") WHERE "state" IN ('pending', 'delivering');
CREATE INDEX "payload_expiries" ON "payload" ("expires_at") WHERE "content" IS NOT NULL AND "expires_at" IS NOT NULL;
CREATE INDEX "artifact_expiries" ON "artifact" ("expires_at") WHERE "pruned_at" IS NULL AND "expires_at" IS NOT NULL;
CREATE INDEX "artifact_bytes" ON "artifact" ("sha256") WHERE "pruned_at" IS NULL;
CREATE INDEX "delivery_bodies" ON "delivery" ("job_id") WHERE "body" IS NOT NULL AND "job_id" IS NOT NULL;
CREATE INDEX "event_text_expiries" ON "event_text" ("expires_at") WHERE "expires_at" IS NOT NULL;
CREATE INDEX "stream_frame_expiries" ON "stream_frame" ("expires_at") WHERE "expires_at" IS NOT NULL;

-- Tenants. -----------------------------------------------------------------------------------------------
-- Every table with a project_id shows rows of the project named by the setting capstan.project_id only, or all
-- rows for '*' (the system). Unset shows nothing. Every migration made by `npm run migrate -- dev` ends with this
-- call, so a new table cannot be forgotten.

CREATE FUNCTION capstan_guard_tenants() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tenant_table regclass;
BEGIN
  FOR tenant_table IN
    SELECT c.oid::regclass FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant')
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY "tenant" ON %s USING (current_setting(''capstan.project_id'', true) IN (''*'', "project_id"))',
      tenant_table);
  END LOOP;
END $$;

SELECT capstan_guard_tenants();
