-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "artifact" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "byte_length" BIGINT NOT NULL,
    "filename" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "uploaded_by" TEXT,
    "pruned_at" TIMESTAMPTZ(3),

    CONSTRAINT "artifact_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job_artifact" (
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "artifact_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "label" TEXT,
    "variant_index" INTEGER,
    "slice_cell_id" TEXT,
    "slot_status" TEXT,

    CONSTRAINT "job_artifact_pkey" PRIMARY KEY ("job_id","artifact_id")
);

-- CreateTable
CREATE TABLE "engine_run" (
    "id" TEXT NOT NULL,
    "function_id" TEXT NOT NULL,
    "occurrence" TEXT NOT NULL,
    "event" JSONB NOT NULL,
    "status" TEXT NOT NULL,
    "worker" TEXT,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "signals" INTEGER NOT NULL DEFAULT 0,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),
    "limit_key" TEXT,
    "limit_cap" INTEGER,
    "limit_key2" TEXT,
    "limit_cap2" INTEGER,
    "queued_at" TIMESTAMPTZ(6) NOT NULL,
    "parent_run" TEXT,
    "parent_step" TEXT,
    "result" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "engine_run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "engine_step" (
    "run_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "op" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "value" JSONB,
    "wake_at" TIMESTAMPTZ(3),
    "event_name" TEXT,
    "condition" TEXT,
    "match_path" TEXT[],
    "match_value" JSONB,

    CONSTRAINT "engine_step_pkey" PRIMARY KEY ("run_id","id")
);

-- CreateTable
CREATE TABLE "engine_limit" (
    "key" TEXT NOT NULL,
    "held" INTEGER NOT NULL,

    CONSTRAINT "engine_limit_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "engine_seen" (
    "id" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "engine_seen_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "engine_worker" (
    "id" TEXT NOT NULL,
    "beat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "engine_worker_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "product_id" TEXT NOT NULL DEFAULT '',
    "principal_id" TEXT NOT NULL,
    "principal_kind" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "capability_key" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "external_ref" TEXT,
    "tags" TEXT[],
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "correlation_id" TEXT,
    "task_kind" TEXT,
    "data_classification" TEXT NOT NULL DEFAULT 'Internal',
    "retention_requirement" TEXT NOT NULL DEFAULT 'Transient',
    "billing_mode" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "quote_id" TEXT,
    "pricing_version" TEXT NOT NULL,
    "pricing" JSONB NOT NULL,
    "estimated_micros" BIGINT NOT NULL,
    "maximum_micros" BIGINT NOT NULL,
    "actual_micros" BIGINT,
    "queue_seconds" INTEGER NOT NULL,
    "queue_deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "execution_seconds" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "dispatch_state" TEXT NOT NULL,
    "dispatch_number" INTEGER NOT NULL DEFAULT 1,
    "dispatch_after" TIMESTAMPTZ(3) NOT NULL,
    "last_event" INTEGER NOT NULL DEFAULT 0,
    "requested_variants" INTEGER,
    "completed_variants" INTEGER NOT NULL DEFAULT 0,
    "failed_variants" INTEGER NOT NULL DEFAULT 0,
    "selected_artifact_id" TEXT,
    "artifact_count" INTEGER NOT NULL DEFAULT 0,
    "progress" JSONB,
    "approval" JSONB,
    "approval_deadline_at" TIMESTAMPTZ(3),
    "submitted_by" TEXT,
    "attention" JSONB,
    "retry_of" TEXT,
    "maturity" JSONB,
    "webhook_event" INTEGER,
    "warnings" JSONB NOT NULL DEFAULT '[]',
    "error_code" TEXT,
    "error" JSONB,
    "receipt_id" TEXT,

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job_event" (
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "job_event_pkey" PRIMARY KEY ("job_id","id")
);

-- CreateTable
CREATE TABLE "event_text" (
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "event_id" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "is_sealed" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "event_text_pkey" PRIMARY KEY ("job_id","event_id")
);

-- CreateTable
CREATE TABLE "stream_frame" (
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "event" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "is_sealed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "stream_frame_pkey" PRIMARY KEY ("job_id","id")
);

-- CreateTable
CREATE TABLE "attempt" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "fence" INTEGER NOT NULL,
    "submission" TEXT NOT NULL DEFAULT 'not_attempted',
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "provider_request_id" TEXT,
    "provider_model" TEXT,
    "handle" JSONB,
    "answer" JSONB,
    "usage" JSONB,
    "http_status" INTEGER,
    "error_code" TEXT,
    "error_message" TEXT,
    "capacity_rejections" INTEGER NOT NULL DEFAULT 0,
    "cost_micros" BIGINT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "submission_begun_at" TIMESTAMPTZ(3),
    "answered_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payload" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "job_id" TEXT,
    "kind" TEXT NOT NULL,
    "content" TEXT,
    "is_sealed" BOOLEAN NOT NULL DEFAULT false,
    "sha256" TEXT NOT NULL,
    "byte_length" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "payload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receipt" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "signature" TEXT,
    "key_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receipt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "retail_quote" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retail_quote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "budget" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "scope" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "ceiling_micros" BIGINT NOT NULL,
    "held_micros" BIGINT NOT NULL DEFAULT 0,
    "settled_micros" BIGINT NOT NULL DEFAULT 0,
    "enforcement" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hold" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "execution_id" TEXT NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "settled_micros" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "hold_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hold_scope" (
    "hold_id" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,

    CONSTRAINT "hold_scope_pkey" PRIMARY KEY ("hold_id","budget_id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "job_id" TEXT,
    "hold_id" TEXT,
    "account" TEXT NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "currency" TEXT NOT NULL DEFAULT 'USD',
    "kind" TEXT NOT NULL,
    "pricing_version" TEXT,
    "is_test" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "organization" (
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "approval_threshold_micros" BIGINT,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environment" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_account" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "password_hash" TEXT,
    "session_version" INTEGER NOT NULL DEFAULT 1,
    "is_operator" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "user_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("user_id","organization_id")
);

-- CreateTable
CREATE TABLE "sign_in_failure" (
    "id" BIGSERIAL NOT NULL,
    "subject" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sign_in_failure_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "environment" TEXT NOT NULL DEFAULT 'development',
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "id" TEXT NOT NULL,
    "public_key" JSONB NOT NULL,
    "private_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "delivery_endpoint" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "url" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "event_types" TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "delivery" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "endpoint_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "job_id" TEXT,
    "type" TEXT NOT NULL,
    "body" TEXT,
    "is_sealed" BOOLEAN NOT NULL DEFAULT false,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "delivery_attempt" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "http_status" INTEGER,
    "error" TEXT,

    CONSTRAINT "delivery_attempt_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateIndex
CREATE UNIQUE INDEX "artifact_project_id_id_key" ON "artifact"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "engine_run_function_id_occurrence_key" ON "engine_run"("function_id", "occurrence");

-- CreateIndex
CREATE INDEX "engine_seen_seen_at_idx" ON "engine_seen"("seen_at");

-- CreateIndex
CREATE INDEX "job_project_id_status_id_idx" ON "job"("project_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "job_project_id_capability_key_id_idx" ON "job"("project_id", "capability_key", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "job_project_id_operation_idempotency_key_key" ON "job"("project_id", "operation", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "job_project_id_id_key" ON "job"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "attempt_project_id_id_key" ON "attempt"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "attempt_job_id_number_key" ON "attempt"("job_id", "number");

-- CreateIndex
CREATE INDEX "payload_job_id_kind_idx" ON "payload"("job_id", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "payload_project_id_id_key" ON "payload"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "receipt_job_id_key" ON "receipt"("job_id");

-- CreateIndex
CREATE UNIQUE INDEX "receipt_project_id_id_key" ON "receipt"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "retail_quote_project_id_id_key" ON "retail_quote"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "budget_scope_period_period_start_key" ON "budget"("scope", "period", "period_start");

-- CreateIndex
CREATE UNIQUE INDEX "hold_execution_id_key" ON "hold"("execution_id");

-- CreateIndex
CREATE UNIQUE INDEX "hold_project_id_id_key" ON "hold"("project_id", "id");

-- CreateIndex
CREATE INDEX "ledger_entry_transaction_id_idx" ON "ledger_entry"("transaction_id");

-- CreateIndex
CREATE INDEX "ledger_entry_organization_id_id_idx" ON "ledger_entry"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_id_key" ON "project"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_slug_key" ON "project"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "environment_project_id_slug_key" ON "environment"("project_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "user_account_email_key" ON "user_account"("email");

-- CreateIndex
CREATE INDEX "sign_in_failure_subject_at_idx" ON "sign_in_failure"("subject", "at");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_organization_id_id_idx" ON "api_key"("organization_id", "id");

-- CreateIndex
CREATE INDEX "delivery_endpoint_organization_id_id_idx" ON "delivery_endpoint"("organization_id", "id");

-- CreateIndex
CREATE INDEX "delivery_job_id_idx" ON "delivery"("job_id");

-- CreateIndex
CREATE INDEX "delivery_organization_id_id_idx" ON "delivery"("organization_id", "id" DESC);

-- CreateIndex
CREATE INDEX "delivery_project_id_id_idx" ON "delivery"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "delivery_endpoint_id_event_id_key" ON "delivery"("endpoint_id", "event_id");

-- AddForeignKey
ALTER TABLE "job_artifact" ADD CONSTRAINT "job_artifact_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_artifact" ADD CONSTRAINT "job_artifact_project_id_artifact_id_fkey" FOREIGN KEY ("project_id", "artifact_id") REFERENCES "artifact"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "engine_step" ADD CONSTRAINT "engine_step_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "engine_run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_text" ADD CONSTRAINT "event_text_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stream_frame" ADD CONSTRAINT "stream_frame_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payload" ADD CONSTRAINT "payload_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "receipt" ADD CONSTRAINT "receipt_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "hold_scope" ADD CONSTRAINT "hold_scope_hold_id_fkey" FOREIGN KEY ("hold_id") REFERENCES "hold"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "hold_scope" ADD CONSTRAINT "hold_scope_budget_id_fkey" FOREIGN KEY ("budget_id") REFERENCES "budget"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "environment" ADD CONSTRAINT "environment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "delivery_endpoint"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery_attempt" ADD CONSTRAINT "delivery_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "delivery"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

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
