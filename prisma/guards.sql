-- What Prisma's schema language cannot say. `npm run migrate -- init` appends this file to 0001_init;
-- after the first release, changes to it are written by hand into the next migration.

-- Words a column may hold. -------------------------------------------------------------------------------

ALTER TABLE "job" ADD CONSTRAINT "job_status_known" CHECK ("status" IN
  ('queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'canceling', 'canceled', 'needs_attention'));
ALTER TABLE "job" ADD CONSTRAINT "job_operation_known" CHECK ("operation" IN ('jobs', 'invoke'));
ALTER TABLE "job" ADD CONSTRAINT "job_mode_known" CHECK ("mode" IN ('invoke_sync', 'invoke_stream', 'job_async'));
ALTER TABLE "job" ADD CONSTRAINT "job_dispatch_state_known" CHECK ("dispatch_state" IN ('pending', 'sent', 'none'));
ALTER TABLE "job" ADD CONSTRAINT "job_billing_mode_known" CHECK ("billing_mode" IN ('managed', 'byok'));
ALTER TABLE "job" ADD CONSTRAINT "job_principal_kind_known" CHECK ("principal_kind" IN
  ('anonymous', 'service_principal', 'human_session', 'panel_session', 'system'));
ALTER TABLE "job" ADD CONSTRAINT "job_amounts_not_negative" CHECK
  ("estimated_micros" >= 0 AND "maximum_micros" >= 0 AND "actual_micros" >= 0);
ALTER TABLE "job" ADD CONSTRAINT "job_completed_when_terminal" CHECK
  ("status" NOT IN ('succeeded', 'failed', 'canceled') OR "completed_at" IS NOT NULL);
ALTER TABLE "job_event" ADD CONSTRAINT "job_event_id_positive" CHECK ("id" > 0);
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_submission_known" CHECK ("submission" IN
  ('not_attempted', 'ambiguous', 'attempted'));
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_number_positive" CHECK ("number" > 0);
ALTER TABLE "payload" ADD CONSTRAINT "payload_kind_known" CHECK ("kind" IN ('request', 'output'));
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_sha256_form" CHECK ("sha256" ~ '^[0-9a-f]{64}$');
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_length_not_negative" CHECK ("byte_length" >= 0);
ALTER TABLE "hold" ADD CONSTRAINT "hold_state_known" CHECK ("state" IN ('open', 'settled', 'released', 'ambiguous'));
ALTER TABLE "hold" ADD CONSTRAINT "hold_amounts_not_negative" CHECK ("amount_micros" >= 0 AND "settled_micros" >= 0);
ALTER TABLE "budget" ADD CONSTRAINT "budget_period_known" CHECK ("period" IN ('day', 'month', 'total'));
ALTER TABLE "budget" ADD CONSTRAINT "budget_enforcement_known" CHECK ("enforcement" IN ('off', 'warn', 'prevent'));
ALTER TABLE "budget" ADD CONSTRAINT "budget_amounts_not_negative" CHECK
  ("ceiling_micros" >= 0 AND "held_micros" >= 0 AND "settled_micros" >= 0);
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_currency_form" CHECK ("currency" ~ '^[A-Z]{3}$');
ALTER TABLE "membership" ADD CONSTRAINT "membership_role_known" CHECK ("role" IN ('owner', 'admin', 'member', 'viewer'));
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_hash_is_sha256" CHECK (octet_length("hash") = 32);

-- History is only added to. ------------------------------------------------------------------------------

CREATE FUNCTION capstan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER "job_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "job_event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "receipt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "receipt"
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
CREATE INDEX "job_tags" ON "job" USING gin ("tags");

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
