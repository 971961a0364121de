-- History is only added to. ------------------------------------------------------------------------------

CREATE FUNCTION capstan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER "event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- The admission of a job never changes, including its hold.
CREATE TRIGGER "job_admission_stays" BEFORE UPDATE OF "admitted_events", "id", "organization_id", "project_id", "principal_id",
    "submitted_by", "billing_mode", "credential_ids", "provider", "maximum_micros", "created_at" OR DELETE OR TRUNCATE ON "job"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "receipt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "receipt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_record_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "pinned_record"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_correction_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "pinned_correction"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "manifest_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "manifest"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_execution_never_deleted" BEFORE DELETE OR TRUNCATE ON "pinned_execution"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_attempt_never_deleted" BEFORE DELETE OR TRUNCATE ON "pinned_attempt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_bulk_never_deleted" BEFORE DELETE OR TRUNCATE ON "pinned_bulk"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- An ended row is evidence, so none of its columns changes.
CREATE FUNCTION capstan_refuse_change_of_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The key of a pinned execution that was never sent is free again, and nothing else of its row changes.
  IF TG_TABLE_NAME = 'pinned_execution' AND to_jsonb(OLD)->>'idempotency_key' IS NOT NULL AND to_jsonb(NEW) = to_jsonb(OLD)
    || jsonb_build_object('idempotency_key', NULL, 'released_key', to_jsonb(OLD)->'idempotency_key') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% % has ended and cannot be changed', TG_TABLE_NAME, OLD."id"
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "pinned_execution_end_stays" BEFORE UPDATE ON "pinned_execution" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'failed', 'ambiguous', 'canceled')) EXECUTE FUNCTION capstan_refuse_change_of_ended();
CREATE TRIGGER "pinned_attempt_end_stays" BEFORE UPDATE ON "pinned_attempt" FOR EACH ROW
  WHEN (OLD."ended_at" IS NOT NULL) EXECUTE FUNCTION capstan_refuse_change_of_ended();
CREATE TRIGGER "pinned_bulk_end_stays" BEFORE UPDATE ON "pinned_bulk" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'partial', 'failed')) EXECUTE FUNCTION capstan_refuse_change_of_ended();
-- A request has at most one commission quote that can be paid, and the quote's terms never change.
CREATE UNIQUE INDEX "commission_quote_one_active" ON "commission_quote" ("request_id") WHERE "state" = 'active';
CREATE UNIQUE INDEX "commission_quote_one_paid" ON "commission_quote" ("request_id") WHERE "state" = 'paid';
CREATE FUNCTION capstan_guard_commission_quote() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."state" <> 'active' AND NEW."state" IS DISTINCT FROM OLD."state" THEN
    RAISE EXCEPTION 'commission quote % is already %', OLD."id", OLD."state" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (NEW."id", NEW."request_id", NEW."revision_id", NEW."organization_id", NEW."project_id", NEW."price_micros", NEW."currency",
      NEW."runtime_pricing", NEW."business_days", NEW."note", NEW."issued_by", NEW."created_at", NEW."expires_at")
     IS DISTINCT FROM
     (OLD."id", OLD."request_id", OLD."revision_id", OLD."organization_id", OLD."project_id", OLD."price_micros", OLD."currency",
      OLD."runtime_pricing", OLD."business_days", OLD."note", OLD."issued_by", OLD."created_at", OLD."expires_at") THEN
    RAISE EXCEPTION 'commission quote %: only its state may change', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "commission_quote_moves" BEFORE UPDATE ON "commission_quote" FOR EACH ROW
  EXECUTE FUNCTION capstan_guard_commission_quote();
CREATE TRIGGER "commission_quote_never_deleted" BEFORE DELETE OR TRUNCATE ON "commission_quote"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "capability_request_revision_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "capability_request_revision"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "capability_request_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "capability_request_event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- A commission has one checkout at a time; anyone else who wants to pay joins it.
CREATE UNIQUE INDEX "payment_one_open_commission" ON "payment" ("subject_id") WHERE "kind" = 'commission' AND "state" = 'open';
CREATE INDEX "payment_by_commission" ON "payment" ("subject_id") WHERE "kind" = 'commission';
CREATE INDEX "payment_to_close" ON "payment" ("close_at") WHERE "close_at" IS NOT NULL;
CREATE INDEX "commission_quote_to_remind" ON "commission_quote" ("expires_at") WHERE "state" = 'active' AND "reminded_at" IS NULL;
-- A name belongs to one adapter per project and environment at a time.
CREATE UNIQUE INDEX "model_adapter_one_name" ON "model_adapter" ("project_id", "environment", "name_key") WHERE "deleted_at" IS NULL;
CREATE TRIGGER "adapter_alias_version_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "adapter_alias_version"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "comparison_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "comparison_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "comparison_never_deleted" BEFORE DELETE OR TRUNCATE ON "comparison"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- A comparison is judged once; nothing else about it changes.
CREATE FUNCTION capstan_guard_comparison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."decision" IS NOT NULL OR NEW."decision" IS NULL
     OR (to_jsonb(NEW) - ARRAY['decision', 'overall_winner_entry_id', 'value_winner_entry_id', 'judged_by', 'judged_at'])
        IS DISTINCT FROM
        (to_jsonb(OLD) - ARRAY['decision', 'overall_winner_entry_id', 'value_winner_entry_id', 'judged_by', 'judged_at']) THEN
    RAISE EXCEPTION 'comparison %: it is judged once, and nothing else of it changes', OLD."id"
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "comparison_stays" BEFORE UPDATE ON "comparison" FOR EACH ROW EXECUTE FUNCTION capstan_guard_comparison();
-- Lists of one principal's jobs: a key's own, those of a panel session, and those of a project by one principal.
CREATE INDEX "job_of_principal" ON "job" ("principal_id", "id");
-- The jobs of one environment in order, with what lists filter by and what never changes after admission: a filter that few jobs
-- pass reads entries in place of rows.
CREATE INDEX "job_in_project" ON "job" ("project_id", "environment", "id") INCLUDE ("capability_key", "principal_id", "provider", "model");
-- In the order of bytes, in which the actions with one prefix stand together, whatever the order of the database is.
CREATE INDEX "audit_entry_of_action" ON "audit_entry" ("organization_id", "action" COLLATE "C", "id");
CREATE INDEX "audit_entry_of_actor" ON "audit_entry" ("organization_id", "actor_id", "id");
CREATE INDEX "notification_unread" ON "notification" ("user_id") WHERE "read_at" IS NULL;
CREATE TRIGGER "model_adapter_never_deleted" BEFORE DELETE OR TRUNCATE ON "model_adapter"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- The source of an adapter never changes; its description, the health of its source and its deletion may.
CREATE FUNCTION capstan_guard_adapter() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  may_change CONSTANT text[] := ARRAY['display_name', 'name_key', 'base_model_family', 'compatible_models', 'trigger_words',
    'recommended_weight', 'license_name', 'license_url', 'license_status', 'health_status', 'health_checked_at', 'health_detail',
    'deleted_at'];
BEGIN
  IF (to_jsonb(NEW) - may_change) IS DISTINCT FROM (to_jsonb(OLD) - may_change) THEN
    RAISE EXCEPTION 'adapter %: its source never changes', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "model_adapter_stays" BEFORE UPDATE ON "model_adapter" FOR EACH ROW EXECUTE FUNCTION capstan_guard_adapter();
-- A key identifies one embed within a project, or within the organization as a whole.
CREATE UNIQUE INDEX "panel_definition_one_key" ON "panel_definition" ("organization_id", coalesce("project_id", ''), "key");
CREATE TRIGGER "panel_version_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "panel_version"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- Exactly one key signs; earlier ones stay.
CREATE UNIQUE INDEX "signing_key_one_active" ON "signing_key" (("retired_at" IS NULL)) WHERE "retired_at" IS NULL;
CREATE TRIGGER "delivery_attempt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "delivery_attempt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "ledger_transaction_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transaction"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "retail_quote_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "retail_quote"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "payment_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "payment_event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "pinned_hold_never_deleted" BEFORE DELETE OR TRUNCATE ON "pinned_hold"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();

-- A hold ends once, and the facts of the hold never change. Conditions and column lists express this without calling a
-- function in the normal case, because every execution ends a hold. A condition is parsed again for each statement; a
-- column list is not.
CREATE FUNCTION capstan_refuse_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the hold of % (%): %', OLD."execution_id", OLD."state", TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE FUNCTION capstan_refuse_job_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the hold of % (%): %', OLD."id", OLD."hold_state", TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "job_hold_end_stays" BEFORE UPDATE OF "hold_state" ON "job" FOR EACH ROW
  WHEN (OLD."hold_state" <> 'open' AND (OLD."hold_state" <> 'ambiguous' OR NEW."hold_state" = 'open')
    OR (OLD."hold_state" IS NULL) <> (NEW."hold_state" IS NULL))
  EXECUTE FUNCTION capstan_refuse_job_hold('it has ended already, or would open again');
-- Admission decides the funding: the balance, or else the allowance.
CREATE TRIGGER "job_hold_keeps_what_pays" BEFORE UPDATE OF "hold_funding" ON "job" FOR EACH ROW
  WHEN (OLD."hold_funding" IS DISTINCT FROM 'wallet' OR OLD."hold_state" <> 'open' OR NEW."hold_funding" IS DISTINCT FROM 'allowance')
  EXECUTE FUNCTION capstan_refuse_job_hold('only its state may change');
CREATE TRIGGER "pinned_hold_end_stays" BEFORE UPDATE ON "pinned_hold" FOR EACH ROW
  WHEN (OLD."state" <> 'open' AND (OLD."state" <> 'ambiguous' OR NEW."state" = 'open'))
  EXECUTE FUNCTION capstan_refuse_hold('it has ended already, or would open again');
CREATE TRIGGER "pinned_hold_keeps_what_it_holds" BEFORE UPDATE OF "id", "organization_id", "project_id", "execution_id",
    "principal_id", "person_id", "billing_mode", "credential_ids", "is_test", "funding", "amount_micros", "created_at" ON "pinned_hold"
  FOR EACH ROW EXECUTE FUNCTION capstan_refuse_hold('only its state may change');

-- Few holds are ambiguous and many end each second, so the index has only the ambiguous ones. The BRIN index finds
-- holds of a period and costs an execution almost nothing.
CREATE INDEX "job_hold_ambiguous" ON "job" ("created_at") WHERE "hold_state" = 'ambiguous' OR "hold_resolution" = 'written_off';
CREATE INDEX "job_by_time" ON "job" USING brin ("created_at");
CREATE INDEX "pinned_hold_ambiguous" ON "pinned_hold" USING brin ("created_at") WHERE "state" = 'ambiguous' OR "resolution" = 'written_off';

CREATE FUNCTION capstan_refuse_terminal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % is already %', OLD."id", OLD."status" USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "job_terminal_status_stays" BEFORE UPDATE OF "status" ON "job" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'failed', 'canceled') AND NEW."status" IS DISTINCT FROM OLD."status")
  EXECUTE FUNCTION capstan_refuse_terminal_change();
