-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "model_adapter" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "source_kind" TEXT NOT NULL,
    "source_ref" TEXT NOT NULL,
    "source_revision" TEXT,
    "file_path" TEXT,
    "provider" TEXT,
    "sha256" TEXT,
    "byte_length" BIGINT,
    "frozen" BOOLEAN NOT NULL,
    "artifact_id" TEXT,
    "health_status" TEXT NOT NULL,
    "health_checked_at" TIMESTAMPTZ(3),
    "health_detail" TEXT,
    "base_model_family" TEXT,
    "compatible_models" TEXT[],
    "trigger_words" TEXT[],
    "recommended_weight" DOUBLE PRECISION,
    "license_name" TEXT,
    "license_url" TEXT,
    "license_status" TEXT NOT NULL,
    "provenance" JSONB NOT NULL DEFAULT '{}',
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_adapter_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "adapter_alias" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "alias" TEXT NOT NULL,
    "alias_key" TEXT NOT NULL,
    "current_version_id" TEXT NOT NULL,
    "version_count" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "adapter_alias_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "adapter_alias_version" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "alias_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "adapter_id" TEXT NOT NULL,
    "weight" DOUBLE PRECISION,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "adapter_alias_version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "adapter_binding" (
    "alias_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "version_id" TEXT NOT NULL,
    "bound_by" TEXT NOT NULL,
    "bound_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "adapter_binding_pkey" PRIMARY KEY ("alias_id")
);

-- CreateTable
CREATE TABLE "adapter_default" (
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "capability_key" TEXT NOT NULL,
    "alias_id" TEXT NOT NULL,
    "set_by" TEXT NOT NULL,
    "set_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "adapter_default_pkey" PRIMARY KEY ("project_id","environment","capability_key")
);

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
    "kept_until" TIMESTAMPTZ(3),
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
    "facts" JSONB,

    CONSTRAINT "job_artifact_pkey" PRIMARY KEY ("job_id","artifact_id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "actor_id" TEXT NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "request_id" TEXT,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chore" (
    "name" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chore_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "comparison" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "capability_key" TEXT NOT NULL,
    "intent" TEXT NOT NULL,
    "workload_tags" JSONB NOT NULL DEFAULT '{}',
    "idempotency_key" TEXT,
    "request_hash" TEXT NOT NULL,
    "seed" INTEGER NOT NULL,
    "estimated_micros" BIGINT NOT NULL,
    "maximum_micros" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "decision" TEXT,
    "overall_winner_entry_id" TEXT,
    "value_winner_entry_id" TEXT,
    "judged_by" TEXT,
    "judged_at" TIMESTAMPTZ(3),

    CONSTRAINT "comparison_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "comparison_entry" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "comparison_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "job_id" TEXT NOT NULL,
    "competitor" JSONB NOT NULL,

    CONSTRAINT "comparison_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "sealed" JSONB NOT NULL,
    "last4" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "endpoint_url" TEXT,
    "models" TEXT,
    "pass_through" JSONB,
    "status" TEXT NOT NULL,
    "checked_at" TIMESTAMPTZ(3),
    "guardrails" JSONB,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "rotated_at" TIMESTAMPTZ(3),

    CONSTRAINT "credential_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential_binding" (
    "id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credential_binding_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connection_check" (
    "id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "message" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "connection_check_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connection_hour" (
    "credential_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "answered" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,
    "problem_at" TIMESTAMPTZ(3),

    CONSTRAINT "connection_hour_pkey" PRIMARY KEY ("credential_id","hour")
);

-- CreateTable
CREATE TABLE "onboarding_session" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "project_id" TEXT,
    "environment" TEXT NOT NULL,
    "capabilities" TEXT[],
    "account_class" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'open',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "onboarding_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "route_health" (
    "account" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "last_failed_at" TIMESTAMPTZ(3) NOT NULL,
    "behind_until" TIMESTAMPTZ(3),

    CONSTRAINT "route_health_pkey" PRIMARY KEY ("account","route")
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
    "reference_hash" TEXT,
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
    "run_id" TEXT,
    "dispatch_state" TEXT NOT NULL,
    "dispatch_number" INTEGER NOT NULL DEFAULT 1,
    "dispatch_after" TIMESTAMPTZ(3) NOT NULL,
    "last_event" INTEGER NOT NULL DEFAULT 0,
    "last_frame" INTEGER,
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
    "comparison_id" TEXT,
    "is_blind" BOOLEAN NOT NULL DEFAULT false,
    "maturity" JSONB,
    "webhook_event" INTEGER,
    "warnings" JSONB NOT NULL DEFAULT '[]',
    "error_code" TEXT,
    "error" JSONB,
    "receipt_id" TEXT,
    "repeat_hash" TEXT,
    "waiter" TEXT,
    "waiter_process" BIGINT,
    "waiter_state" TEXT,
    "waiter_retries" INTEGER,

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
    "stage" TEXT,
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
    "tier_refusal" JSONB,
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
    "pinned_id" TEXT,
    "bulk_id" TEXT,
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
    "principal_id" TEXT NOT NULL,
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
    "ceiling_micros" BIGINT NOT NULL,
    "enforcement" TEXT NOT NULL,
    "managed_only" BOOLEAN NOT NULL DEFAULT false,
    "increase_micros" BIGINT NOT NULL DEFAULT 0,
    "increase_until" TIMESTAMPTZ(3),
    "increase_reason" TEXT,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "budget_window" (
    "budget_id" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "is_test" BOOLEAN NOT NULL,
    "held_micros" BIGINT NOT NULL DEFAULT 0,
    "settled_micros" BIGINT NOT NULL DEFAULT 0,
    "alerted_percent" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "budget_window_pkey" PRIMARY KEY ("budget_id","period_start","is_test")
);

-- CreateTable
CREATE TABLE "budget_alert" (
    "id" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "scope" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "is_test" BOOLEAN NOT NULL,
    "percent" INTEGER NOT NULL,
    "spent_micros" BIGINT NOT NULL,
    "held_micros" BIGINT NOT NULL,
    "ceiling_micros" BIGINT NOT NULL,
    "enforcement" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "budget_alert_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "wallet" (
    "organization_id" TEXT NOT NULL,
    "is_test" BOOLEAN NOT NULL,
    "balance_micros" BIGINT NOT NULL DEFAULT 0,
    "held_micros" BIGINT NOT NULL DEFAULT 0,
    "allowance_micros" BIGINT NOT NULL DEFAULT 0,
    "allowance_used_micros" BIGINT NOT NULL DEFAULT 0,
    "allowance_held_micros" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wallet_pkey" PRIMARY KEY ("organization_id","is_test")
);

-- CreateTable
CREATE TABLE "hold" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "execution_id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "person_id" TEXT,
    "billing_mode" TEXT NOT NULL,
    "credential_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "is_test" BOOLEAN NOT NULL,
    "funding" TEXT,
    "amount_micros" BIGINT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "settled_micros" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "resolved_by" TEXT,
    "note" TEXT,

    CONSTRAINT "hold_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "job_id" TEXT,
    "hold_id" TEXT,
    "payment_id" TEXT,
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
CREATE TABLE "payment" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_id" TEXT,
    "provider" TEXT NOT NULL,
    "session_id" TEXT,
    "provider_payment_id" TEXT,
    "state" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "credit_micros" BIGINT NOT NULL,
    "exchange" JSONB,
    "tax_micros" BIGINT NOT NULL DEFAULT 0,
    "refunded_micros" BIGINT NOT NULL DEFAULT 0,
    "refund_totals" JSONB NOT NULL DEFAULT '{}',
    "failed_refunds" JSONB NOT NULL DEFAULT '{}',
    "disputes" JSONB NOT NULL DEFAULT '{}',
    "customer_id" TEXT,
    "payer_email" TEXT,
    "is_taxed" BOOLEAN NOT NULL DEFAULT false,
    "is_test" BOOLEAN NOT NULL,
    "checkout_url" TEXT,
    "preset_key" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "paid_at" TIMESTAMPTZ(3),
    "processing_at" TIMESTAMPTZ(3),
    "close_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_refund" (
    "id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "note" TEXT,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_refund_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_event" (
    "provider" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "payment_id" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payment_event_pkey" PRIMARY KEY ("provider","id")
);

-- CreateTable
CREATE TABLE "usage_day" (
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "capability_key" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "billing_mode" TEXT NOT NULL,
    "is_test" BOOLEAN NOT NULL,
    "executions" INTEGER NOT NULL,
    "succeeded" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "canceled" INTEGER NOT NULL,
    "cost_micros" BIGINT NOT NULL,
    "unknown_costs" INTEGER NOT NULL,
    "charged_micros" BIGINT NOT NULL,
    "fee_micros" BIGINT NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "images" BIGINT NOT NULL,

    CONSTRAINT "usage_day_pkey" PRIMARY KEY ("project_id","day","capability_key","provider","model","principal_id","billing_mode","is_test")
);

-- CreateTable
CREATE TABLE "usage_counted" (
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "is_closed" BOOLEAN NOT NULL,
    "computed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_counted_pkey" PRIMARY KEY ("project_id","day")
);

-- CreateTable
CREATE TABLE "notification" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "occasion" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "href" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "read_at" TIMESTAMPTZ(3),

    CONSTRAINT "notification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mail" (
    "id" TEXT NOT NULL,
    "notification_id" TEXT,
    "invitation_id" TEXT,
    "invitation_nonce" TEXT,
    "recipient" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "html" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "mail_pkey" PRIMARY KEY ("id")
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
    "repository" JSONB,
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
    "second_factor_secret" TEXT,
    "second_factor_at" TIMESTAMPTZ(3),
    "second_factor_step" BIGINT,
    "recovery_hashes" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
    "founded_at" TIMESTAMPTZ(3),
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
CREATE TABLE "invitation" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "nonce" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "invited_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "accepted_by" TEXT,
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inference_hour" (
    "organization_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "inference_hour_pkey" PRIMARY KEY ("organization_id")
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
    "replaced_by" TEXT,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "panel_definition" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT,
    "key" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "origin" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "panel_definition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "panel_version" (
    "id" TEXT NOT NULL,
    "definition_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "capability_key" TEXT,
    "capability_version" TEXT,
    "presentation" JSONB NOT NULL,
    "policy" JSONB NOT NULL,
    "allowed_origins" TEXT[],
    "actions" JSONB NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "panel_version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "panel_session" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "version_id" TEXT,
    "allowed_origins" TEXT[],
    "external_subject" TEXT,
    "max_spend_micros" BIGINT NOT NULL,
    "max_jobs" INTEGER NOT NULL,
    "admitted_jobs" INTEGER NOT NULL DEFAULT 0,
    "initial_inputs" JSONB NOT NULL,
    "locked_inputs" JSONB NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "panel_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "panel_origin" (
    "origin" TEXT NOT NULL,
    "told_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "panel_origin_pkey" PRIMARY KEY ("origin")
);

-- CreateTable
CREATE TABLE "panel_token" (
    "hash" BYTEA NOT NULL,
    "session_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "panel_token_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "panel_launch_code" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "panel_launch_code_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_execution" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "principal_kind" TEXT NOT NULL,
    "submitted_by" TEXT,
    "bulk_id" TEXT,
    "position" INTEGER,
    "item_id" TEXT,
    "idempotency_key" TEXT,
    "identity_hash" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "api" TEXT NOT NULL,
    "plan" JSONB,
    "request_hash" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "estimated_micros" BIGINT NOT NULL,
    "maximum_micros" BIGINT NOT NULL,
    "actual_micros" BIGINT,
    "usage" JSONB,
    "is_test" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "error_code" TEXT,
    "error" JSONB,
    "safely_retryable" BOOLEAN,
    "receipt_id" TEXT,
    "warnings" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "pinned_execution_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_attempt" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "pinned_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "fence" INTEGER NOT NULL,
    "submission" TEXT NOT NULL DEFAULT 'ambiguous',
    "sent_hash" TEXT NOT NULL,
    "http_status" INTEGER,
    "error_code" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "pinned_attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_record" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "pinned_id" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pinned_record_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_correction" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "pinned_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "details" JSONB NOT NULL,
    "signature" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pinned_correction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_bulk" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "principal_kind" TEXT NOT NULL,
    "submitted_by" TEXT,
    "idempotency_key" TEXT,
    "identity_hash" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "api" TEXT NOT NULL,
    "plan" JSONB NOT NULL,
    "concurrency" INTEGER NOT NULL,
    "lanes" INTEGER NOT NULL,
    "item_count" INTEGER NOT NULL,
    "retry_of" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "dispatch_number" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "pinned_bulk_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "manifest" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "experiment_hash" TEXT,
    "receipt_count" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "manifest_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "capability_request" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "current_revision_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" TEXT NOT NULL,
    "idempotency_key" TEXT,
    "identity_hash" TEXT,
    "feedback" JSONB,
    "capability_key" TEXT,
    "submitted_at" TIMESTAMPTZ(3),
    "fulfilled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "capability_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "capability_request_revision" (
    "id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "body" JSONB NOT NULL,
    "hash" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "capability_request_revision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "capability_request_event" (
    "id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "payload" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "capability_request_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "commission_quote" (
    "id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "revision_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "price_micros" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "runtime_pricing" JSONB NOT NULL,
    "business_days" INTEGER NOT NULL,
    "note" TEXT,
    "issued_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "reminded_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "payment_id" TEXT,

    CONSTRAINT "commission_quote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "token_hash" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_pkey" PRIMARY KEY ("issuer","subject")
);

-- CreateTable
CREATE TABLE "device_login" (
    "id" TEXT NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "user_code" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decision" TEXT,
    "decided_by" TEXT,
    "version" INTEGER,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "device_login_pkey" PRIMARY KEY ("id")
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
CREATE TABLE "vault_process" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "seals_with" TEXT NOT NULL,
    "opens" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "vault_process_pkey" PRIMARY KEY ("id")
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
CREATE INDEX "model_adapter_project_id_environment_id_idx" ON "model_adapter"("project_id", "environment", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "model_adapter_project_id_id_key" ON "model_adapter"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "adapter_alias_project_id_environment_alias_key_key" ON "adapter_alias"("project_id", "environment", "alias_key");

-- CreateIndex
CREATE UNIQUE INDEX "adapter_alias_project_id_id_key" ON "adapter_alias"("project_id", "id");

-- CreateIndex
CREATE INDEX "adapter_alias_version_project_id_adapter_id_idx" ON "adapter_alias_version"("project_id", "adapter_id");

-- CreateIndex
CREATE UNIQUE INDEX "adapter_alias_version_alias_id_number_key" ON "adapter_alias_version"("alias_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "adapter_binding_project_id_alias_id_key" ON "adapter_binding"("project_id", "alias_id");

-- CreateIndex
CREATE UNIQUE INDEX "artifact_project_id_id_key" ON "artifact"("project_id", "id");

-- CreateIndex
CREATE INDEX "job_artifact_artifact_id_idx" ON "job_artifact"("artifact_id");

-- CreateIndex
CREATE INDEX "audit_entry_organization_id_id_idx" ON "audit_entry"("organization_id", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_subject_id_idx" ON "audit_entry"("subject", "id" DESC);

-- CreateIndex
CREATE INDEX "comparison_project_id_id_idx" ON "comparison"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "comparison_project_id_idempotency_key_key" ON "comparison"("project_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "comparison_project_id_id_key" ON "comparison"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "comparison_entry_job_id_key" ON "comparison_entry"("job_id");

-- CreateIndex
CREATE UNIQUE INDEX "comparison_entry_comparison_id_position_key" ON "comparison_entry"("comparison_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "credential_organization_id_id_key" ON "credential"("organization_id", "id");

-- CreateIndex
CREATE INDEX "credential_binding_credential_id_idx" ON "credential_binding"("credential_id");

-- CreateIndex
CREATE UNIQUE INDEX "credential_binding_project_id_environment_provider_key" ON "credential_binding"("project_id", "environment", "provider");

-- CreateIndex
CREATE INDEX "connection_check_credential_id_at_idx" ON "connection_check"("credential_id", "at");

-- CreateIndex
CREATE INDEX "connection_hour_hour_idx" ON "connection_hour"("hour");

-- CreateIndex
CREATE INDEX "onboarding_session_expires_at_idx" ON "onboarding_session"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "engine_run_function_id_occurrence_key" ON "engine_run"("function_id", "occurrence");

-- CreateIndex
CREATE INDEX "engine_seen_seen_at_idx" ON "engine_seen"("seen_at");

-- CreateIndex
CREATE INDEX "job_project_id_status_id_idx" ON "job"("project_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "job_project_id_capability_key_id_idx" ON "job"("project_id", "capability_key", "id" DESC);

-- CreateIndex
CREATE INDEX "job_project_id_environment_id_idx" ON "job"("project_id", "environment", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "job_project_id_operation_idempotency_key_key" ON "job"("project_id", "operation", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "job_project_id_id_key" ON "job"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "attempt_job_id_number_key" ON "attempt"("job_id", "number");

-- CreateIndex
CREATE INDEX "payload_job_id_kind_idx" ON "payload"("job_id", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "receipt_job_id_key" ON "receipt"("job_id");

-- CreateIndex
CREATE UNIQUE INDEX "retail_quote_project_id_id_key" ON "retail_quote"("project_id", "id");

-- CreateIndex
CREATE INDEX "budget_scope_idx" ON "budget"("scope");

-- CreateIndex
CREATE UNIQUE INDEX "budget_organization_id_scope_period_key" ON "budget"("organization_id", "scope", "period");

-- CreateIndex
CREATE INDEX "budget_alert_organization_id_id_idx" ON "budget_alert"("organization_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "hold_execution_id_key" ON "hold"("execution_id");

-- CreateIndex
CREATE INDEX "hold_organization_id_created_at_idx" ON "hold"("organization_id", "created_at");

-- CreateIndex
CREATE INDEX "ledger_entry_account_id_idx" ON "ledger_entry"("account", "id");

-- CreateIndex
CREATE UNIQUE INDEX "payment_session_id_key" ON "payment"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "payment_provider_payment_id_key" ON "payment"("provider_payment_id");

-- CreateIndex
CREATE INDEX "payment_organization_id_id_idx" ON "payment"("organization_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "payment_refund_payment_id_key" ON "payment_refund"("payment_id");

-- CreateIndex
CREATE INDEX "payment_refund_state_next_attempt_at_idx" ON "payment_refund"("state", "next_attempt_at");

-- CreateIndex
CREATE INDEX "usage_counted_day_idx" ON "usage_counted"("day");

-- CreateIndex
CREATE INDEX "notification_user_id_id_idx" ON "notification"("user_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "notification_user_id_occasion_key" ON "notification"("user_id", "occasion");

-- CreateIndex
CREATE UNIQUE INDEX "mail_notification_id_key" ON "mail"("notification_id");

-- CreateIndex
CREATE INDEX "mail_state_next_attempt_at_idx" ON "mail"("state", "next_attempt_at");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_id_key" ON "project"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_slug_key" ON "project"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "environment_project_id_slug_key" ON "environment"("project_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "user_account_email_key" ON "user_account"("email");

-- CreateIndex
CREATE UNIQUE INDEX "invitation_token_hash_key" ON "invitation"("token_hash");

-- CreateIndex
CREATE INDEX "invitation_organization_id_id_idx" ON "invitation"("organization_id", "id" DESC);

-- CreateIndex
CREATE INDEX "sign_in_failure_subject_at_idx" ON "sign_in_failure"("subject", "at");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_organization_id_id_idx" ON "api_key"("organization_id", "id");

-- CreateIndex
CREATE INDEX "panel_definition_organization_id_id_idx" ON "panel_definition"("organization_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "panel_version_definition_id_number_key" ON "panel_version"("definition_id", "number");

-- CreateIndex
CREATE INDEX "panel_session_project_id_id_idx" ON "panel_session"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "panel_session_expires_at_idx" ON "panel_session"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "panel_session_project_id_id_key" ON "panel_session"("project_id", "id");

-- CreateIndex
CREATE INDEX "panel_origin_told_until_idx" ON "panel_origin"("told_until");

-- CreateIndex
CREATE INDEX "panel_token_session_id_idx" ON "panel_token"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "panel_launch_code_hash_key" ON "panel_launch_code"("hash");

-- CreateIndex
CREATE INDEX "panel_launch_code_expires_at_idx" ON "panel_launch_code"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "pinned_execution_project_id_id_key" ON "pinned_execution"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "pinned_attempt_pinned_id_number_key" ON "pinned_attempt"("pinned_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "pinned_record_pinned_id_key" ON "pinned_record"("pinned_id");

-- CreateIndex
CREATE INDEX "pinned_record_project_id_id_idx" ON "pinned_record"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "pinned_correction_pinned_id_idx" ON "pinned_correction"("pinned_id");

-- CreateIndex
CREATE INDEX "pinned_bulk_project_id_id_idx" ON "pinned_bulk"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "pinned_bulk_project_id_id_key" ON "pinned_bulk"("project_id", "id");

-- CreateIndex
CREATE INDEX "manifest_project_id_id_idx" ON "manifest"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "manifest_project_id_id_key" ON "manifest"("project_id", "id");

-- CreateIndex
CREATE INDEX "capability_request_project_id_id_idx" ON "capability_request"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "capability_request_status_id_idx" ON "capability_request"("status", "id");

-- CreateIndex
CREATE UNIQUE INDEX "capability_request_project_id_idempotency_key_key" ON "capability_request"("project_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "capability_request_organization_id_id_key" ON "capability_request"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "capability_request_revision_request_id_number_key" ON "capability_request_revision"("request_id", "number");

-- CreateIndex
CREATE INDEX "capability_request_event_request_id_id_idx" ON "capability_request_event"("request_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "commission_quote_payment_id_key" ON "commission_quote"("payment_id");

-- CreateIndex
CREATE INDEX "commission_quote_request_id_id_idx" ON "commission_quote"("request_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "session_token_hash_key" ON "session"("token_hash");

-- CreateIndex
CREATE INDEX "session_user_id_id_idx" ON "session"("user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "session_expires_at_idx" ON "session"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "identity_user_id_issuer_key" ON "identity"("user_id", "issuer");

-- CreateIndex
CREATE UNIQUE INDEX "device_login_code_hash_key" ON "device_login"("code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_login_user_code_key" ON "device_login"("user_code");

-- CreateIndex
CREATE INDEX "device_login_address_created_at_idx" ON "device_login"("address", "created_at");

-- CreateIndex
CREATE INDEX "device_login_expires_at_idx" ON "device_login"("expires_at");

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
ALTER TABLE "adapter_alias_version" ADD CONSTRAINT "adapter_alias_version_project_id_alias_id_fkey" FOREIGN KEY ("project_id", "alias_id") REFERENCES "adapter_alias"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "adapter_alias_version" ADD CONSTRAINT "adapter_alias_version_project_id_adapter_id_fkey" FOREIGN KEY ("project_id", "adapter_id") REFERENCES "model_adapter"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "adapter_binding" ADD CONSTRAINT "adapter_binding_project_id_alias_id_fkey" FOREIGN KEY ("project_id", "alias_id") REFERENCES "adapter_alias"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "adapter_default" ADD CONSTRAINT "adapter_default_project_id_alias_id_fkey" FOREIGN KEY ("project_id", "alias_id") REFERENCES "adapter_alias"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_artifact" ADD CONSTRAINT "job_artifact_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_artifact" ADD CONSTRAINT "job_artifact_project_id_artifact_id_fkey" FOREIGN KEY ("project_id", "artifact_id") REFERENCES "artifact"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comparison_entry" ADD CONSTRAINT "comparison_entry_project_id_comparison_id_fkey" FOREIGN KEY ("project_id", "comparison_id") REFERENCES "comparison"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential_binding" ADD CONSTRAINT "credential_binding_organization_id_credential_id_fkey" FOREIGN KEY ("organization_id", "credential_id") REFERENCES "credential"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential_binding" ADD CONSTRAINT "credential_binding_organization_id_project_id_fkey" FOREIGN KEY ("organization_id", "project_id") REFERENCES "project"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_check" ADD CONSTRAINT "connection_check_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credential"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_hour" ADD CONSTRAINT "connection_hour_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credential"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
ALTER TABLE "payload" ADD CONSTRAINT "payload_project_id_pinned_id_fkey" FOREIGN KEY ("project_id", "pinned_id") REFERENCES "pinned_execution"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payload" ADD CONSTRAINT "payload_project_id_bulk_id_fkey" FOREIGN KEY ("project_id", "bulk_id") REFERENCES "pinned_bulk"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "receipt" ADD CONSTRAINT "receipt_project_id_job_id_fkey" FOREIGN KEY ("project_id", "job_id") REFERENCES "job"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "budget_window" ADD CONSTRAINT "budget_window_budget_id_fkey" FOREIGN KEY ("budget_id") REFERENCES "budget"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "environment" ADD CONSTRAINT "environment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "inference_hour" ADD CONSTRAINT "inference_hour_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_version" ADD CONSTRAINT "panel_version_definition_id_fkey" FOREIGN KEY ("definition_id") REFERENCES "panel_definition"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_session" ADD CONSTRAINT "panel_session_organization_id_project_id_fkey" FOREIGN KEY ("organization_id", "project_id") REFERENCES "project"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_session" ADD CONSTRAINT "panel_session_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "panel_version"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_token" ADD CONSTRAINT "panel_token_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "panel_session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_launch_code" ADD CONSTRAINT "panel_launch_code_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "panel_session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pinned_execution" ADD CONSTRAINT "pinned_execution_project_id_bulk_id_fkey" FOREIGN KEY ("project_id", "bulk_id") REFERENCES "pinned_bulk"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pinned_attempt" ADD CONSTRAINT "pinned_attempt_project_id_pinned_id_fkey" FOREIGN KEY ("project_id", "pinned_id") REFERENCES "pinned_execution"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pinned_record" ADD CONSTRAINT "pinned_record_project_id_pinned_id_fkey" FOREIGN KEY ("project_id", "pinned_id") REFERENCES "pinned_execution"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pinned_correction" ADD CONSTRAINT "pinned_correction_project_id_pinned_id_fkey" FOREIGN KEY ("project_id", "pinned_id") REFERENCES "pinned_execution"("project_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "capability_request_revision" ADD CONSTRAINT "capability_request_revision_organization_id_request_id_fkey" FOREIGN KEY ("organization_id", "request_id") REFERENCES "capability_request"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "capability_request_event" ADD CONSTRAINT "capability_request_event_organization_id_request_id_fkey" FOREIGN KEY ("organization_id", "request_id") REFERENCES "capability_request"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "commission_quote" ADD CONSTRAINT "commission_quote_organization_id_request_id_fkey" FOREIGN KEY ("organization_id", "request_id") REFERENCES "capability_request"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity" ADD CONSTRAINT "identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "delivery_endpoint"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery_attempt" ADD CONSTRAINT "delivery_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "delivery"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

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
CREATE DOMAIN "waiter_state" AS text CONSTRAINT "waiter_state_known" CHECK (VALUE IN ('waiting', 'left', 'answered_early'));
CREATE DOMAIN "billing_mode" AS text CONSTRAINT "billing_mode_known" CHECK (VALUE IN ('managed', 'byok'));
CREATE DOMAIN "principal_kind" AS text CONSTRAINT "principal_kind_known" CHECK (VALUE IN
  ('anonymous', 'service_principal', 'human_session', 'panel_session', 'system'));
CREATE DOMAIN "submission" AS text CONSTRAINT "submission_known" CHECK (VALUE IN ('not_attempted', 'ambiguous', 'attempted'));
CREATE DOMAIN "payload_kind" AS text CONSTRAINT "payload_kind_known" CHECK (VALUE IN
  ('request', 'output', 'input', 'answer', 'native'));
CREATE DOMAIN "pinned_status" AS text CONSTRAINT "pinned_status_known" CHECK (VALUE IN
  ('queued', 'running', 'succeeded', 'failed', 'ambiguous', 'canceled'));
CREATE DOMAIN "bulk_status" AS text CONSTRAINT "bulk_status_known" CHECK (VALUE IN
  ('accepted', 'running', 'succeeded', 'partial', 'failed'));
CREATE DOMAIN "hold_state" AS text CONSTRAINT "hold_state_known" CHECK (VALUE IN ('open', 'settled', 'released', 'ambiguous'));
CREATE DOMAIN "hold_funding" AS text CONSTRAINT "hold_funding_known" CHECK (VALUE IN ('allowance', 'wallet'));
CREATE DOMAIN "payment_state" AS text CONSTRAINT "payment_state_known" CHECK (VALUE IN ('open', 'paid', 'failed', 'expired'));
CREATE DOMAIN "delivery_state" AS text CONSTRAINT "delivery_state_known" CHECK (VALUE IN
  ('pending', 'delivering', 'succeeded', 'failed', 'disabled'));
CREATE DOMAIN "budget_period" AS text CONSTRAINT "budget_period_known" CHECK (VALUE IN ('day', 'month', 'total'));
CREATE DOMAIN "budget_enforcement" AS text CONSTRAINT "budget_enforcement_known" CHECK (VALUE IN ('off', 'warn', 'prevent'));
CREATE DOMAIN "credential_status" AS text CONSTRAINT "credential_status_known" CHECK (VALUE IN ('ready', 'refused'));
CREATE DOMAIN "check_outcome" AS text CONSTRAINT "check_outcome_known" CHECK (VALUE IN ('ready', 'refused', 'unreachable'));
CREATE DOMAIN "onboarding_status" AS text CONSTRAINT "onboarding_status_known" CHECK (VALUE IN ('open', 'completed'));
CREATE DOMAIN "request_status" AS text CONSTRAINT "request_status_known" CHECK (VALUE IN ('draft', 'submitted', 'in_review',
  'needs_information', 'quoted', 'declined', 'paid', 'fulfilled', 'refunded'));
CREATE DOMAIN "commission_state" AS text CONSTRAINT "commission_state_known" CHECK (VALUE IN ('active', 'superseded', 'paid'));
CREATE DOMAIN "refund_state" AS text CONSTRAINT "refund_state_known" CHECK (VALUE IN ('pending', 'done', 'failed'));
CREATE DOMAIN "mail_state" AS text CONSTRAINT "mail_state_known" CHECK (VALUE IN ('pending', 'sending', 'sent', 'failed', 'kept'));
CREATE DOMAIN "source_health" AS text CONSTRAINT "source_health_known" CHECK (VALUE IN ('healthy', 'degraded', 'missing', 'unknown'));
CREATE DOMAIN "comparison_decision" AS text CONSTRAINT "comparison_decision_known" CHECK (VALUE IN ('winner', 'tie', 'none'));
CREATE DOMAIN "comparison_intent" AS text CONSTRAINT "comparison_intent_known" CHECK (VALUE IN
  ('exploratory', 'production_decision', 'golden_regression'));
CREATE DOMAIN "panel_status" AS text CONSTRAINT "panel_status_known" CHECK (VALUE IN ('active', 'disabled', 'archived'));
CREATE DOMAIN "member_role" AS text CONSTRAINT "member_role_known" CHECK (VALUE IN ('owner', 'admin', 'member', 'viewer'));
CREATE DOMAIN "session_kind" AS text CONSTRAINT "session_kind_known" CHECK (VALUE IN ('browser', 'device'));
CREATE DOMAIN "device_decision" AS text CONSTRAINT "device_decision_known" CHECK (VALUE IN ('approved', 'denied'));

SELECT capstan_restrict(column_name, domain_name) FROM (VALUES
  ('credential.status', 'credential_status'), ('connection_check.outcome', 'check_outcome'),
  ('onboarding_session.status', 'onboarding_status'), ('route_health.failures', 'ordinal'),
  ('job.status', 'job_status'), ('job.operation', 'job_operation'), ('job.mode', 'job_mode'),
  ('job.dispatch_state', 'dispatch_state'), ('job.waiter_state', 'waiter_state'), ('job.billing_mode', 'billing_mode'),
  ('job.principal_kind', 'principal_kind'), ('job.estimated_micros', 'amount_micros'),
  ('job.maximum_micros', 'amount_micros'), ('job.actual_micros', 'amount_micros'),
  ('job_event.id', 'ordinal'), ('attempt.number', 'ordinal'), ('attempt.submission', 'submission'),
  ('payload.kind', 'payload_kind'), ('artifact.sha256', 'sha256_hex'), ('artifact.byte_length', 'amount_of_bytes'),
  ('hold.state', 'hold_state'), ('hold.amount_micros', 'amount_micros'), ('hold.settled_micros', 'amount_micros'),
  ('budget.period', 'budget_period'), ('budget.enforcement', 'budget_enforcement'),
  ('hold.billing_mode', 'billing_mode'), ('hold.funding', 'hold_funding'),
  ('budget.ceiling_micros', 'amount_micros'), ('budget.increase_micros', 'amount_micros'),
  ('budget_window.held_micros', 'amount_micros'), ('budget_window.settled_micros', 'amount_micros'),
  ('wallet.held_micros', 'amount_micros'), ('wallet.allowance_micros', 'amount_micros'),
  ('wallet.allowance_used_micros', 'amount_micros'), ('wallet.allowance_held_micros', 'amount_micros'),
  ('ledger_entry.currency', 'currency_code'), ('payment.currency', 'currency_code'),
  ('payment.amount_micros', 'amount_micros'), ('payment.credit_micros', 'amount_micros'),
  ('payment.refunded_micros', 'amount_micros'), ('payment.state', 'payment_state'), ('payment.tax_micros', 'amount_micros'),
  ('payment_refund.state', 'refund_state'), ('mail.state', 'mail_state'),
  ('model_adapter.sha256', 'sha256_hex'), ('model_adapter.byte_length', 'amount_of_bytes'),
  ('model_adapter.health_status', 'source_health'), ('adapter_alias_version.number', 'ordinal'),
  ('capability_request.status', 'request_status'), ('capability_request.created_by_kind', 'principal_kind'),
  ('capability_request_revision.number', 'ordinal'), ('capability_request_revision.hash', 'sha256_hex'),
  ('capability_request_event.actor_kind', 'principal_kind'),
  ('commission_quote.state', 'commission_state'), ('commission_quote.price_micros', 'amount_micros'),
  ('commission_quote.currency', 'currency_code'), ('commission_quote.business_days', 'ordinal'),
  ('pinned_execution.status', 'pinned_status'), ('pinned_execution.principal_kind', 'principal_kind'),
  ('pinned_execution.position', 'ordinal'), ('pinned_execution.estimated_micros', 'amount_micros'),
  ('pinned_execution.maximum_micros', 'amount_micros'), ('pinned_execution.actual_micros', 'amount_micros'),
  ('pinned_attempt.number', 'ordinal'), ('pinned_attempt.submission', 'submission'),
  ('pinned_attempt.sent_hash', 'sha256_hex'),
  ('pinned_bulk.status', 'bulk_status'), ('pinned_bulk.principal_kind', 'principal_kind'),
  ('pinned_bulk.concurrency', 'ordinal'), ('pinned_bulk.lanes', 'ordinal'), ('pinned_bulk.item_count', 'ordinal'),
  ('comparison.decision', 'comparison_decision'), ('comparison.intent', 'comparison_intent'),
  ('comparison.estimated_micros', 'amount_micros'), ('comparison.maximum_micros', 'amount_micros'),
  ('comparison_entry.position', 'ordinal'),
  ('stream_frame.id', 'ordinal'), ('delivery.state', 'delivery_state'), ('membership.role', 'member_role'),
  ('invitation.role', 'member_role'), ('session.kind', 'session_kind'), ('device_login.decision', 'device_decision'),
  ('panel_definition.status', 'panel_status'), ('panel_definition.version', 'ordinal'), ('panel_version.number', 'ordinal'),
  ('panel_session.max_spend_micros', 'amount_micros'), ('panel_session.created_by_kind', 'principal_kind')
) AS restricted(column_name, domain_name);

-- What concerns two columns, or is seldom written, stays a CHECK.
ALTER TABLE "job" ADD CONSTRAINT "job_completed_when_terminal" CHECK
  ("completed_at" IS NOT NULL OR "status" NOT IN ('succeeded', 'failed', 'canceled'));
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_token_is_sha256" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "session" ADD CONSTRAINT "session_of_device_has_token" CHECK
  (("kind" = 'device') = ("token_hash" IS NOT NULL) AND ("token_hash" IS NULL OR octet_length("token_hash") = 32));
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_code_is_sha256" CHECK (octet_length("code_hash") = 32);
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_is_decided_by_somebody" CHECK
  (num_nonnulls("decision", "decided_by", "version") IN (0, 3) AND ("used_at" IS NULL OR "decision" IS NOT DISTINCT FROM 'approved'));
ALTER TABLE "user_account" ADD CONSTRAINT "second_factor_has_secret" CHECK
  ("second_factor_at" IS NULL OR "second_factor_secret" IS NOT NULL);
-- capstan_count_panel_jobs counts them.
ALTER TABLE "panel_session" ADD CONSTRAINT "panel_session_jobs_within_cap" CHECK ("admitted_jobs" BETWEEN 0 AND "max_jobs");
ALTER TABLE "panel_token" ADD CONSTRAINT "panel_token_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "panel_launch_code" ADD CONSTRAINT "panel_launch_code_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "mail" ADD CONSTRAINT "mail_tells_of_one_thing" CHECK
  (num_nonnulls("notification_id", "invitation_id") = 1 AND ("invitation_id" IS NULL) = ("invitation_nonce" IS NULL));

-- Rows of a few kilobytes stay as they are: compressing them was a fifth of the work of an execution.
ALTER TABLE "job" SET (toast_tuple_target = 8160);
ALTER TABLE "attempt" SET (toast_tuple_target = 8160);
ALTER TABLE "payload" SET (toast_tuple_target = 8160);
ALTER TABLE "receipt" SET (toast_tuple_target = 8160);
ALTER TABLE "pinned_record" SET (toast_tuple_target = 8160);

-- Statistics. --------------------------------------------------------------------------------------------
-- Each execution adds to these tables, so they are analyzed again and again, of a large one a second of a core each time. A
-- quarter of the usual sample is enough to choose between their indexes, and what no statement looks for needs none at all.
DO $$
DECLARE
  sampled record;
BEGIN
  FOR sampled IN
    SELECT a.attrelid::regclass AS name, a.attname AS column_name, t.typname = 'jsonb' OR a.attname IN ('content', 'body', 'signature',
      'text', 'data') AS is_never_looked_for
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY(ARRAY['job', 'job_event', 'event_text', 'stream_frame',
      'attempt', 'payload', 'receipt', 'artifact', 'job_artifact', 'hold', 'ledger_entry', 'pinned_execution', 'pinned_attempt',
      'pinned_record', 'delivery', 'delivery_attempt', 'engine_run', 'engine_step', 'engine_seen']::regclass[])
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', sampled.name, sampled.column_name,
      CASE WHEN sampled.is_never_looked_for THEN 0 ELSE 25 END);
  END LOOP;
END $$;

-- History is only added to. ------------------------------------------------------------------------------

CREATE FUNCTION capstan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER "job_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "job_event"
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
-- What has ended is a record of evidence: no column of it changes any more.
CREATE FUNCTION capstan_refuse_change_of_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% % has ended and cannot be changed', TG_TABLE_NAME, OLD."id"
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "pinned_execution_end_stays" BEFORE UPDATE ON "pinned_execution" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'failed', 'ambiguous', 'canceled')) EXECUTE FUNCTION capstan_refuse_change_of_ended();
CREATE TRIGGER "pinned_attempt_end_stays" BEFORE UPDATE ON "pinned_attempt" FOR EACH ROW
  WHEN (OLD."ended_at" IS NOT NULL) EXECUTE FUNCTION capstan_refuse_change_of_ended();
CREATE TRIGGER "pinned_bulk_end_stays" BEFORE UPDATE ON "pinned_bulk" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'partial', 'failed')) EXECUTE FUNCTION capstan_refuse_change_of_ended();
-- Of a request, at most one commission quote can be paid, and what it says never changes.
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
-- A commission has one checkout at a time: whoever else wants to pay it joins that one.
CREATE UNIQUE INDEX "payment_one_open_commission" ON "payment" ("subject_id") WHERE "kind" = 'commission' AND "state" = 'open';
CREATE INDEX "payment_by_commission" ON "payment" ("subject_id") WHERE "kind" = 'commission';
CREATE INDEX "payment_to_close" ON "payment" ("close_at") WHERE "close_at" IS NOT NULL;
CREATE INDEX "commission_quote_to_remind" ON "commission_quote" ("expires_at") WHERE "state" = 'active' AND "reminded_at" IS NULL;
-- A name is one adapter of a project and environment at a time.
CREATE UNIQUE INDEX "model_adapter_one_name" ON "model_adapter" ("project_id", "environment", "name_key") WHERE "deleted_at" IS NULL;
CREATE TRIGGER "adapter_alias_version_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "adapter_alias_version"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "comparison_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "comparison_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "comparison_never_deleted" BEFORE DELETE OR TRUNCATE ON "comparison"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- A comparison is judged once; nothing else of it changes.
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
-- The jobs of a panel session are found by it; those of others never are.
CREATE INDEX "job_of_panel" ON "job" ("principal_id") WHERE "principal_kind" = 'panel_session';
-- The jobs that are still blind are few, and found by this alone.
CREATE INDEX "job_blind" ON "job" ("organization_id", "project_id", "comparison_id") WHERE "is_blind";
CREATE TRIGGER "model_adapter_never_deleted" BEFORE DELETE OR TRUNCATE ON "model_adapter"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- What an adapter is never changes; how its source is, and that it was put away, may.
CREATE FUNCTION capstan_guard_adapter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (to_jsonb(NEW) - ARRAY['health_status', 'health_checked_at', 'health_detail', 'deleted_at'])
     IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['health_status', 'health_checked_at', 'health_detail', 'deleted_at']) THEN
    RAISE EXCEPTION 'adapter %: only its health may change', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "model_adapter_stays" BEFORE UPDATE ON "model_adapter" FOR EACH ROW EXECUTE FUNCTION capstan_guard_adapter();
-- A key names one panel of a project, or of the organization as a whole.
CREATE UNIQUE INDEX "panel_definition_one_key" ON "panel_definition" ("organization_id", coalesce("project_id", ''), "key");
CREATE TRIGGER "panel_version_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "panel_version"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
-- One key signs; those before it stay.
CREATE UNIQUE INDEX "signing_key_one_active" ON "signing_key" (("retired_at" IS NULL)) WHERE "retired_at" IS NULL;
CREATE TRIGGER "delivery_attempt_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "delivery_attempt"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "retail_quote_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "retail_quote"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "payment_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "payment_event"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();
CREATE TRIGGER "hold_never_deleted" BEFORE DELETE OR TRUNCATE ON "hold"
  FOR EACH STATEMENT EXECUTE FUNCTION capstan_refuse_change();

-- A hold ends once, and never changes what it holds.
-- Said by conditions and columns, so that no function is called where there is nothing to refuse: every execution ends a hold.
-- A condition is read from its text for each statement, a list of columns is not.
CREATE FUNCTION capstan_refuse_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'hold % (%): %', OLD."id", OLD."state", TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "hold_end_stays" BEFORE UPDATE ON "hold" FOR EACH ROW
  WHEN (OLD."state" <> 'open' AND (OLD."state" <> 'ambiguous' OR NEW."state" = 'open'))
  EXECUTE FUNCTION capstan_refuse_hold('it has ended already, or would open again');
CREATE TRIGGER "hold_keeps_what_it_holds" BEFORE UPDATE OF "id", "organization_id", "project_id", "execution_id",
    "principal_id", "person_id", "billing_mode", "credential_ids", "is_test", "funding", "amount_micros", "created_at" ON "hold"
  FOR EACH ROW EXECUTE FUNCTION capstan_refuse_hold('only its state may change');

CREATE FUNCTION capstan_refuse_terminal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'job % is already %', OLD."id", OLD."status" USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "job_terminal_status_stays" BEFORE UPDATE OF "status" ON "job" FOR EACH ROW
  WHEN (OLD."status" IN ('succeeded', 'failed', 'canceled') AND NEW."status" IS DISTINCT FROM OLD."status")
  EXECUTE FUNCTION capstan_refuse_terminal_change();

-- Limits of plans. ----------------------------------------------------------------------------------------
-- A limit is held by the statement that admits what it counts: who counts holds the organization's lock until the end of the
-- transaction, so that any number at once do not overrun it. Without limits none of this is called.

CREATE TYPE "plan_taking" AS ("organization_id" text, "id" text, "most_active" integer, "most_inferences" integer,
  "wanted" integer, "created_at" timestamptz);

-- Who takes a seat, by e-mail address: members, and whom an open invitation waits for.
CREATE FUNCTION capstan_seats(organization text, moment timestamptz) RETURNS SETOF text LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT email FROM membership JOIN user_account ON user_account.id = user_id WHERE organization_id = organization
  UNION SELECT email FROM invitation
  WHERE organization_id = organization AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > moment;
END;

-- Durable jobs of an organization that have not ended. By project, whose index leads to them.
CREATE FUNCTION capstan_active(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs'
    AND job.status IN ('queued', 'running', 'awaiting_approval', 'canceling', 'needs_attention'));

CREATE FUNCTION capstan_running(organization text) RETURNS integer LANGUAGE sql VOLATILE
RETURN (SELECT count(*)::int FROM job JOIN project ON project.id = job.project_id
  WHERE project.organization_id = organization AND operation = 'jobs' AND job.status IN ('running', 'canceling'));

-- Takes what these admissions, whose jobs are written already by the same statement, need of their plans; CB429 where there
-- is not enough. One order of locks everywhere: organizations by id, first their jobs, then their hour.
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
      AND job.status IN ('queued', 'running', 'awaiting_approval', 'canceling', 'needs_attention');
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

-- How many more jobs of each of these organizations may start now; whoever is told so starts them in the same transaction.
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

-- Counts jobs that are being admitted, one for each time its session is named; above a session's cap CB402, and nothing is
-- written. Sessions are the last that an admission locks, in the order of their ids, and whoever ends a job locks none: so
-- nobody who holds one waits for what another has.
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

-- Money. -------------------------------------------------------------------------------------------------
-- Reservations move with holds: the statement that makes or ends holds calls one of these two functions with them. What
-- counts against a ceiling follows from the hold alone (its organization, project, principal, person, billing mode and day),
-- so nothing has to be remembered. Everybody locks in one order: organization, project and principal windows, then wallets.
-- A budget is set under an exclusive lock of its organization, which waits for every reservation under way.

-- `enforcement` is what the call itself asks for: it can make a ceiling that warns prevent, and never the other way.
CREATE TYPE "reservation" AS ("hold_id" text, "execution_id" text, "organization_id" text, "project_id" text,
  "principal_id" text, "person_id" text, "billing_mode" text, "credential_ids" text[], "is_test" boolean, "amount_micros" bigint,
  "enforcement" text, "created_at" timestamptz);
CREATE TYPE "resolution" AS ("organization_id" text, "project_id" text, "principal_id" text, "person_id" text,
  "billing_mode" text, "credential_ids" text[], "is_test" boolean, "funding" text, "created_at" timestamptz,
  "amount_micros" bigint, "state" text, "settled_micros" bigint);

CREATE FUNCTION capstan_period_start(period text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE
RETURN CASE period WHEN 'day' THEN date_trunc('day', moment, 'UTC') WHEN 'month' THEN date_trunc('month', moment, 'UTC')
  ELSE 'epoch'::timestamptz END;

-- The keys that were made in the place of this one, as budgets name them. A rotated key's budget is its heir's, and what the
-- old key spent, or still spends while both work, counts against it.
CREATE FUNCTION capstan_heirs(key text) RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY(
  WITH RECURSIVE heir AS (
    SELECT replaced_by AS id FROM api_key WHERE api_key.id = key AND replaced_by IS NOT NULL
    UNION SELECT api_key.replaced_by FROM heir JOIN api_key ON api_key.id = heir.id WHERE api_key.replaced_by IS NOT NULL
  ) SELECT 'principal:' || id FROM heir);

-- Gives a key's budgets to its heir, with all that counts against them, while nobody reserves or settles.
CREATE FUNCTION capstan_bequeath(organization text, old_key text, new_key text, moment timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  passed integer;
BEGIN
  PERFORM pg_advisory_xact_lock(capstan_budget_lock(organization));
  UPDATE budget SET scope = 'principal:' || new_key, updated_at = moment
  WHERE organization_id = organization AND scope = 'principal:' || old_key;
  GET DIAGNOSTICS passed = ROW_COUNT;
  RETURN passed;
END $$;

-- Whose ceilings an execution counts against. `guardrail` is the organization's own, of what runs on its own accounts;
-- `connection` is one of these accounts: an execution of several calls counts in full against each that it may run on.
CREATE FUNCTION capstan_scopes(organization text, project text, principal text, person text, billing_mode text, credentials text[])
RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY['organization:' || organization, 'project:' || project, 'principal:' || principal, 'principal:' || person,
  CASE WHEN billing_mode = 'byok' THEN 'guardrail:' || organization END]
  || CASE WHEN principal LIKE 'key\_%' THEN capstan_heirs(principal) END
  || CASE WHEN cardinality(credentials) > 0 THEN ARRAY(SELECT 'connection:' || id FROM unnest(credentials) AS id) END;

-- The cap of one panel session. There are as many as sessions, to be used up: nobody is told of them as of budgets, and who
-- is no panel session is not to look through them.
CREATE FUNCTION capstan_is_of_panel(scope text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN starts_with(scope, 'principal:pses_');
CREATE INDEX "budget_of_no_panel" ON "budget" ("organization_id") WHERE NOT capstan_is_of_panel("scope");

CREATE FUNCTION capstan_scope_rank(scope text) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN CASE split_part(scope, ':', 1) WHEN 'organization' THEN 1 WHEN 'project' THEN 2 ELSE 3 END;

-- The key of the lock between setting a budget and counting against it.
CREATE FUNCTION capstan_budget_lock(organization text) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN hashtextextended('budget ' || organization, 0);

-- Money of comparisons that nobody has judged is told as one sum, and only when no part of it is open any more: a figure that
-- is read between two ends must not tell a price. Said here once, for balances, budgets, refusals, alerts and usage alike.

-- Is a comparison still under way as far as money goes: has a job of it not ended, or does nobody know what one cost?
CREATE FUNCTION capstan_is_open(organization text, project text, comparison text) RETURNS boolean LANGUAGE sql STABLE
RETURN EXISTS (
  SELECT FROM job j LEFT JOIN hold h ON h.execution_id = j.id
  WHERE j.is_blind AND j.organization_id = organization AND j.project_id = project AND j.comparison_id = comparison
    AND (j.status NOT IN ('succeeded', 'failed', 'canceled') OR h.state IN ('open', 'ambiguous')));

-- The holds of an organization that have ended and count as held still, because others of their comparison are open.
CREATE FUNCTION capstan_veiled(organization text) RETURNS SETOF hold LANGUAGE sql STABLE ROWS 2
BEGIN ATOMIC
  SELECT h.* FROM job j JOIN hold h ON h.execution_id = j.id
  WHERE j.is_blind AND j.organization_id = organization AND h.state IN ('settled', 'released')
    AND capstan_is_open(j.organization_id, j.project_id, j.comparison_id);
END;

-- What of that a budget counts in a period: as held, and not as settled.
CREATE FUNCTION capstan_veiled_in(budget text, start timestamptz, test boolean)
RETURNS TABLE ("held" bigint, "settled" bigint) LANGUAGE sql STABLE ROWS 1
BEGIN ATOMIC
  SELECT coalesce(sum(h.amount_micros), 0)::bigint, coalesce(sum(h.settled_micros), 0)::bigint
  FROM budget b, capstan_veiled(b.organization_id) h
  WHERE b.id = budget AND h.is_test = test AND capstan_period_start(b.period, h.created_at) = start
    AND (NOT b.managed_only OR h.billing_mode = 'managed')
    AND b.scope = ANY(capstan_scopes(h.organization_id, h.project_id, h.principal_id, h.person_id, h.billing_mode, h.credential_ids));
END;

-- Sets money aside for new holds, and says what pays for each, and which ceilings that only warn it goes above: told by
-- the row of the job or pinned execution, and by a job's events, as well. SQLSTATE CB402: a ceiling that prevents would be passed; CB403: the organization has not
-- the funds. Both with a DETAIL in JSON, and nothing written. The decision is exact; figures that are told of what is left
-- are those that everybody is shown.
CREATE FUNCTION capstan_reserve(items reservation[], allowance bigint, trial_ceiling bigint)
RETURNS TABLE ("hold_id" text, "funding" text, "warnings" jsonb) LANGUAGE plpgsql STRICT ROWS 1 AS $$
DECLARE
  warned jsonb := '{}';
  moment timestamptz;
  item reservation := items[1];
  due record;
  spent record;
  account record;
  purse wallet;
  veiled record;
BEGIN
  IF cardinality(items) = 0 THEN RETURN; END IF;
  IF cardinality(items) = 1 THEN
    -- An expression and not a query: one hold without budgets costs one statement here.
    IF pg_advisory_xact_lock_shared(capstan_budget_lock(item.organization_id)) IS NULL THEN NULL; END IF;
    -- No budget, and the balance pays: the wallet's row decides. Whatever else there is to say is said below.
    IF item.billing_mode = 'managed' THEN
      UPDATE wallet w SET held_micros = w.held_micros + item.amount_micros
      WHERE w.organization_id = item.organization_id AND w.is_test = item.is_test
        AND item.amount_micros <= w.balance_micros - w.held_micros
        AND (item.amount_micros > trial_ceiling
          OR item.amount_micros > w.allowance_micros - w.allowance_used_micros - w.allowance_held_micros)
        AND item.principal_id NOT LIKE 'pses\_%'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.organization_id = item.organization_id AND NOT capstan_is_of_panel(b.scope));
      IF FOUND THEN
        hold_id := item.hold_id;
        funding := 'wallet';
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
  ELSE
    PERFORM pg_advisory_xact_lock_shared(capstan_budget_lock(x.organization_id))
    FROM (SELECT DISTINCT unnested.organization_id FROM unnest(items) unnested ORDER BY 1) x;
  END IF;

  moment := (SELECT max(i.created_at) FROM unnest(items) i);
  FOR due IN
    SELECT b.id, b.scope, b.period,
      CASE WHEN bool_or(i.enforcement = 'prevent') THEN 'prevent' ELSE b.enforcement::text END AS enforcement,
      b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END AS ceiling,
      capstan_period_start(b.period, i.created_at) AS start, i.is_test, sum(i.amount_micros)::bigint AS amount,
      array_agg(i.place) AS places
    FROM unnest(items) WITH ORDINALITY AS i(hold_id, execution_id, organization_id, project_id, principal_id, person_id,
      billing_mode, credential_ids, is_test, amount_micros, enforcement, created_at, place)
    JOIN budget b ON b.scope = ANY(capstan_scopes(i.organization_id, i.project_id, i.principal_id, i.person_id, i.billing_mode, i.credential_ids))
    WHERE b.organization_id = i.organization_id AND b.enforcement <> 'off'
      AND (NOT b.managed_only OR i.billing_mode = 'managed')
    GROUP BY b.id, capstan_period_start(b.period, i.created_at), i.is_test
    ORDER BY capstan_scope_rank(b.scope), b.id, capstan_period_start(b.period, i.created_at), i.is_test
  LOOP
    LOOP
      UPDATE budget_window w SET held_micros = w.held_micros + due.amount
      WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test
        AND (due.enforcement <> 'prevent' OR w.settled_micros + w.held_micros + due.amount <= due.ceiling)
      RETURNING w.settled_micros AS settled, w.held_micros AS held, w.alerted_percent AS alerted INTO spent;
      EXIT WHEN FOUND;
      INSERT INTO budget_window (budget_id, period_start, is_test) VALUES (due.id, due.start, due.is_test)
      ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        SELECT w.settled_micros AS settled, w.held_micros AS held INTO spent FROM budget_window w
        WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test;
        -- Room that came back since the refusal: ask once more.
        CONTINUE WHEN spent.settled + spent.held + due.amount <= due.ceiling;
        SELECT * INTO veiled FROM capstan_veiled_in(due.id, due.start, due.is_test);
        RAISE EXCEPTION 'budget % is exhausted', due.scope USING ERRCODE = 'CB402', DETAIL = jsonb_build_object(
          'budgetId', due.id, 'scope', due.scope, 'period', due.period, 'enforcement', due.enforcement,
          'ceilingMicros', due.ceiling, 'availableMicros', greatest(0, due.ceiling - spent.settled - spent.held
            + veiled.settled - veiled.held), 'amountMicros', due.amount)::text;
      END IF;
    END LOOP;
    PERFORM capstan_alert(due.id, due.start, due.is_test, due.ceiling, spent.settled, spent.held, spent.alerted, moment);
    IF spent.settled + spent.held > due.ceiling THEN
      SELECT * INTO veiled FROM capstan_veiled_in(due.id, due.start, due.is_test);
      -- In their order each takes of the room there was; a bulk is thousands of them, so in one pass.
      warned := warned || coalesce((
        SELECT jsonb_object_agg(over.hold_id, coalesce(warned->over.hold_id, '[]') || jsonb_build_object(
          'code', 'BudgetExceeded', 'scope', due.scope, 'period', due.period, 'enforcement', due.enforcement,
          'estimatedCost', trim_scale(over.amount_micros / 1e6), 'remaining',
          trim_scale(greatest(0, over.room + veiled.settled - veiled.held) / 1e6),
          'ceiling', trim_scale(due.ceiling / 1e6)))
        FROM (
          SELECT i.hold_id, i.amount_micros, due.ceiling - spent.settled - spent.held + due.amount + i.amount_micros
            - sum(i.amount_micros) OVER (ORDER BY place)::bigint AS room
          FROM unnest(items) WITH ORDINALITY AS i(hold_id, execution_id, organization_id, project_id, principal_id, person_id,
            billing_mode, credential_ids, is_test, amount_micros, enforcement, created_at, place)
          JOIN unnest(due.places) AS mine(place) USING (place)
        ) over WHERE over.amount_micros > over.room), '{}');
    END IF;
  END LOOP;

  IF warned <> '{}' THEN
    -- Rows that the calling statement has just made: it does not touch them again. A pinned execution has no events.
    -- Competitors of a comparison are warned on their rows alone: an event of some would tell them apart.
    IF current_setting('capstan.warn_quietly', true) IS DISTINCT FROM 'on' THEN
      INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
      SELECT j.project_id, j.id, j.last_event + w.position, 'job.budget_warning', w.value, i.created_at
      FROM unnest(items) i JOIN job j ON j.id = i.execution_id,
        jsonb_array_elements(warned->i.hold_id) WITH ORDINALITY AS w(value, position);
    END IF;
    UPDATE job j SET warnings = j.warnings || (warned->i.hold_id),
      last_event = j.last_event + CASE WHEN current_setting('capstan.warn_quietly', true) IS DISTINCT FROM 'on'
        THEN jsonb_array_length(warned->i.hold_id) ELSE 0 END
    FROM unnest(items) i WHERE j.id = i.execution_id AND warned ? i.hold_id;
    UPDATE pinned_execution p SET warnings = p.warnings || (warned->i.hold_id)
    FROM unnest(items) i WHERE p.id = i.execution_id AND warned ? i.hold_id;
  END IF;

  FOR account IN
    SELECT DISTINCT i.organization_id, i.is_test FROM unnest(items) i WHERE i.billing_mode = 'managed' ORDER BY 1, 2
  LOOP
    SELECT * INTO purse FROM wallet w
    WHERE w.organization_id = account.organization_id AND w.is_test = account.is_test FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      INSERT INTO wallet (organization_id, is_test, allowance_micros, created_at)
      VALUES (account.organization_id, account.is_test, allowance, moment)
      ON CONFLICT (organization_id, is_test) DO UPDATE SET held_micros = wallet.held_micros
      RETURNING * INTO purse;
    END IF;
    FOREACH item IN ARRAY items LOOP
      CONTINUE WHEN item.organization_id <> account.organization_id OR item.is_test <> account.is_test
        OR item.billing_mode <> 'managed';
      hold_id := item.hold_id;
      warnings := warned->item.hold_id;
      IF item.amount_micros <= trial_ceiling
        AND item.amount_micros <= purse.allowance_micros - purse.allowance_used_micros - purse.allowance_held_micros THEN
        purse.allowance_held_micros := purse.allowance_held_micros + item.amount_micros;
        funding := 'allowance';
      ELSIF item.amount_micros <= purse.balance_micros - purse.held_micros THEN
        purse.held_micros := purse.held_micros + item.amount_micros;
        funding := 'wallet';
      ELSE
        SELECT coalesce(sum(h.amount_micros - coalesce(h.settled_micros, 0)) FILTER (WHERE h.funding = 'wallet'), 0)::bigint AS of_wallet,
          coalesce(sum(h.amount_micros - coalesce(h.settled_micros, 0)) FILTER (WHERE h.funding = 'allowance'), 0)::bigint AS of_allowance
        INTO veiled FROM capstan_veiled(account.organization_id) h WHERE h.is_test = account.is_test;
        RAISE EXCEPTION 'organization % has not the funds', item.organization_id USING ERRCODE = 'CB403',
          DETAIL = jsonb_build_object('isTest', item.is_test, 'amountMicros', item.amount_micros,
            'allowanceMicros', greatest(0, purse.allowance_micros - purse.allowance_used_micros - purse.allowance_held_micros
              - veiled.of_allowance),
            'trialCeilingMicros', trial_ceiling,
            'walletMicros', greatest(0, purse.balance_micros - purse.held_micros - veiled.of_wallet))::text;
      END IF;
      RETURN NEXT;
    END LOOP;
    UPDATE wallet w SET held_micros = purse.held_micros, allowance_held_micros = purse.allowance_held_micros
    WHERE w.organization_id = account.organization_id AND w.is_test = account.is_test;
  END LOOP;

  FOREACH item IN ARRAY items LOOP
    CONTINUE WHEN item.billing_mode = 'managed';
    hold_id := item.hold_id;
    warnings := warned->item.hold_id;
    funding := NULL;
    RETURN NEXT;
  END LOOP;
END $$;

-- The highest of 50, 80 and 100 % that this much has reached; 0: none.
CREATE FUNCTION capstan_reached(spent bigint, ceiling bigint) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN CASE WHEN spent = 0 THEN 0 WHEN spent >= ceiling THEN 100 WHEN spent * 10 >= ceiling * 8 THEN 80
  WHEN spent * 2 >= ceiling THEN 50 ELSE 0 END;

-- Tells of each of 50, 80 and 100 % that what is settled and held has reached and was not told of in this period.
CREATE FUNCTION capstan_alert(budget text, start timestamptz, test boolean, ceiling bigint, settled bigint, held bigint,
  alerted integer, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  reached integer := capstan_reached(settled + held, ceiling);
BEGIN
  IF reached <= alerted THEN RETURN; END IF;
  UPDATE budget_window w SET alerted_percent = reached
  WHERE w.budget_id = budget AND w.period_start = start AND w.is_test = test;
  INSERT INTO budget_alert (id, budget_id, organization_id, project_id, scope, period, period_start, is_test, percent,
    spent_micros, held_micros, ceiling_micros, enforcement, created_at)
  SELECT capstan_event_id(moment, step.percent), b.id, b.organization_id, b.project_id, b.scope, b.period, start, test,
    step.percent, capstan_alert.settled - veiled.settled, capstan_alert.held + veiled.held, ceiling, b.enforcement, moment
  FROM capstan_veiled_in(budget, start, test) veiled, budget b, unnest(ARRAY[50, 80, 100]) AS step(percent)
  WHERE b.id = budget AND step.percent > alerted AND step.percent <= reached AND NOT capstan_is_of_panel(b.scope);
END $$;

-- `evt_` and a ULID: the moment in milliseconds, then chance; ids of one call in the order of `step`.
CREATE FUNCTION capstan_event_id(moment timestamptz, step integer) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  millis bigint := floor(extract(epoch FROM moment) * 1000);
  chance bytea := uuid_send(gen_random_uuid());
  made text := '';
BEGIN
  FOR place IN 1..10 LOOP
    made := substr(alphabet, (millis % 32)::integer + 1, 1) || made;
    millis := millis / 32;
  END LOOP;
  made := made || substr(alphabet, step / 32 + 1, 1) || substr(alphabet, step % 32 + 1, 1);
  -- Fourteen digits of the sixteen random bytes, less the two that hold a UUID's version and variant.
  FOR place IN 0..15 LOOP
    CONTINUE WHEN place IN (6, 8);
    made := made || substr(alphabet, (get_byte(chance, place) & 31) + 1, 1);
  END LOOP;
  RETURN 'evt_' || made;
END $$;

-- Moves what was held for these holds, now that they have ended: freed, and counted as spent where they were settled.
CREATE FUNCTION capstan_resolve(items resolution[], moment timestamptz) RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  item resolution := items[1];
  due record;
  spent record;
BEGIN
  IF cardinality(items) = 0 THEN RETURN; END IF;
  IF cardinality(items) = 1 THEN
    IF pg_advisory_xact_lock_shared(capstan_budget_lock(item.organization_id)) IS NULL THEN NULL; END IF;
    -- No budget, and the balance paid, as above.
    IF item.funding = 'wallet' AND item.state IN ('settled', 'released') THEN
      UPDATE wallet w SET held_micros = w.held_micros - item.amount_micros,
        balance_micros = w.balance_micros - coalesce(item.settled_micros, 0)
      WHERE w.organization_id = item.organization_id AND w.is_test = item.is_test
        AND item.principal_id NOT LIKE 'pses\_%'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.organization_id = item.organization_id AND NOT capstan_is_of_panel(b.scope));
      IF FOUND THEN RETURN; END IF;
    END IF;
  ELSE
    PERFORM pg_advisory_xact_lock_shared(capstan_budget_lock(x.organization_id))
    FROM (SELECT DISTINCT unnested.organization_id FROM unnest(items) unnested ORDER BY 1) x;
  END IF;

  FOR due IN
    SELECT b.id, b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END AS ceiling,
      capstan_period_start(b.period, i.created_at) AS start, i.is_test,
      sum(i.amount_micros)::bigint AS freed, sum(coalesce(i.settled_micros, 0))::bigint AS charged
    FROM unnest(items) i
    JOIN budget b ON b.scope = ANY(capstan_scopes(i.organization_id, i.project_id, i.principal_id, i.person_id, i.billing_mode, i.credential_ids))
    WHERE b.organization_id = i.organization_id AND b.enforcement <> 'off' AND i.state IN ('settled', 'released')
      AND (NOT b.managed_only OR i.billing_mode = 'managed')
    GROUP BY b.id, capstan_period_start(b.period, i.created_at), i.is_test
    ORDER BY capstan_scope_rank(b.scope), b.id, capstan_period_start(b.period, i.created_at), i.is_test
  LOOP
    UPDATE budget_window w SET held_micros = w.held_micros - due.freed, settled_micros = w.settled_micros + due.charged
    WHERE w.budget_id = due.id AND w.period_start = due.start AND w.is_test = due.is_test
    RETURNING w.settled_micros AS settled, w.held_micros AS held, w.alerted_percent AS alerted INTO spent;
    -- Only an overrun can reach a step here that the reservation had not reached.
    IF FOUND AND due.charged > due.freed THEN
      PERFORM capstan_alert(due.id, due.start, due.is_test, due.ceiling, spent.settled, spent.held, spent.alerted, moment);
    END IF;
  END LOOP;

  FOR due IN
    SELECT i.organization_id, i.is_test,
      coalesce(sum(i.amount_micros) FILTER (WHERE i.funding = 'wallet'), 0)::bigint AS freed,
      coalesce(sum(i.settled_micros) FILTER (WHERE i.funding = 'wallet'), 0)::bigint AS charged,
      coalesce(sum(i.amount_micros) FILTER (WHERE i.funding = 'allowance'), 0)::bigint AS allowance_freed,
      coalesce(sum(i.settled_micros) FILTER (WHERE i.funding = 'allowance'), 0)::bigint AS allowance_charged
    FROM unnest(items) i WHERE i.funding IS NOT NULL AND i.state IN ('settled', 'released')
    GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE wallet w SET held_micros = w.held_micros - due.freed, balance_micros = w.balance_micros - due.charged,
      allowance_held_micros = w.allowance_held_micros - due.allowance_freed,
      allowance_used_micros = w.allowance_used_micros + due.allowance_charged
    WHERE w.organization_id = due.organization_id AND w.is_test = due.is_test;
  END LOOP;
END $$;

-- Counts a budget anew from the holds, for one that is new or says something else from now on: its current period, those
-- that a clock a little off or a hold that has not ended may still touch, and every one it has counted before. Tells of the
-- steps that are reached under what it says now. The caller holds the exclusive lock of its organization.
CREATE FUNCTION capstan_recount_budget(budget text, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  b budget;
  spent record;
  ceiling bigint;
BEGIN
  SELECT * INTO b FROM budget x WHERE x.id = budget;
  ceiling := b.ceiling_micros + CASE WHEN b.increase_until > moment THEN b.increase_micros ELSE 0 END;
  INSERT INTO budget_window (budget_id, period_start, is_test, held_micros, settled_micros)
  WITH mine AS MATERIALIZED (
    SELECT capstan_period_start(b.period, h.created_at) AS start, h.is_test, h.state, h.amount_micros, h.settled_micros
    FROM hold h
    WHERE h.organization_id = b.organization_id AND (NOT b.managed_only OR h.billing_mode = 'managed')
      AND b.scope = ANY(capstan_scopes(h.organization_id, h.project_id, h.principal_id, h.person_id, h.billing_mode, h.credential_ids))
  )
  SELECT b.id, counted.start, counted.is_test,
    coalesce(sum(mine.amount_micros) FILTER (WHERE mine.state IN ('open', 'ambiguous')), 0),
    coalesce(sum(mine.settled_micros) FILTER (WHERE mine.state = 'settled'), 0)
  FROM (
    SELECT w.period_start AS start, w.is_test FROM budget_window w WHERE w.budget_id = b.id
    UNION SELECT mine.start, mine.is_test FROM mine WHERE mine.state IN ('open', 'ambiguous')
    UNION SELECT capstan_period_start(b.period, moment + off), test
      FROM unnest(ARRAY[interval '-1 minute', interval '0', interval '1 minute']) AS off, unnest(ARRAY[false, true]) AS test
  ) counted
  LEFT JOIN mine USING (start, is_test)
  GROUP BY counted.start, counted.is_test
  ON CONFLICT (budget_id, period_start, is_test) DO UPDATE SET held_micros = excluded.held_micros,
    settled_micros = excluded.settled_micros, alerted_percent = least(budget_window.alerted_percent,
      capstan_reached(excluded.held_micros + excluded.settled_micros, ceiling));
  IF b.enforcement = 'off' THEN RETURN; END IF;
  FOR spent IN
    SELECT w.* FROM budget_window w WHERE w.budget_id = b.id AND w.period_start = capstan_period_start(b.period, moment)
  LOOP
    PERFORM capstan_alert(b.id, spent.period_start, spent.is_test, ceiling, spent.settled_micros, spent.held_micros,
      spent.alerted_percent, moment);
  END LOOP;
END $$;

-- Nobody's sessions outlive their right to make any: with a key that is revoked, and with a member who leaves or may only look
-- from now on, the panel sessions they made end. Who makes one holds that row until the session is there (`sessions.ts`).
CREATE FUNCTION capstan_end_panel_sessions(organization text, maker text, moment timestamptz) RETURNS void LANGUAGE sql
BEGIN ATOMIC
  UPDATE panel_session SET revoked_at = moment
  WHERE created_by = maker AND organization_id = organization AND revoked_at IS NULL AND expires_at > moment;
END;
CREATE INDEX "panel_session_of_maker" ON "panel_session" ("created_by") WHERE "revoked_at" IS NULL;
CREATE FUNCTION capstan_end_sessions_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM capstan_end_panel_sessions(NEW."organization_id", NEW."id", NEW."revoked_at");
  RETURN NULL;
END $$;
CREATE TRIGGER "api_key_ends_its_sessions" AFTER UPDATE OF "revoked_at" ON "api_key"
  FOR EACH ROW WHEN (OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL)
  EXECUTE FUNCTION capstan_end_sessions_of_key();
CREATE FUNCTION capstan_end_sessions_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM capstan_end_panel_sessions(OLD."organization_id", OLD."user_id", now());
  RETURN NULL;
END $$;
CREATE TRIGGER "membership_ends_its_sessions" AFTER DELETE ON "membership"
  FOR EACH ROW EXECUTE FUNCTION capstan_end_sessions_of_member();
CREATE TRIGGER "lowered_membership_ends_its_sessions" AFTER UPDATE OF "role" ON "membership"
  FOR EACH ROW WHEN (NEW."role" = 'viewer') EXECUTE FUNCTION capstan_end_sessions_of_member();

-- What is no more has no ceiling: whoever deletes a connection, its guardrail stays as history that nobody counts against.
CREATE FUNCTION capstan_end_guardrail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE budget SET enforcement = 'off' WHERE organization_id = OLD."organization_id" AND scope = 'connection:' || OLD."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "credential_ends_its_guardrail" AFTER DELETE ON "credential"
  FOR EACH ROW EXECUTE FUNCTION capstan_end_guardrail();

-- Executions. --------------------------------------------------------------------------------------------
-- What reservations, the ledger and usage know of an execution, be it a job or pinned: said here once. Ids of one kind sort
-- by time, so a range of ids reads one table by its index and finds none in the other.

-- What was fixed at admission, of an item by its bulk.
CREATE FUNCTION capstan_pinned_plan(pinned pinned_execution) RETURNS jsonb LANGUAGE sql STABLE
RETURN coalesce(pinned.plan, (SELECT b.plan FROM pinned_bulk b WHERE b.id = pinned.bulk_id));

CREATE VIEW "execution" WITH (security_invoker = true) AS
SELECT j.id, j.id AS job_id, NULL AS pinned_id, j.project_id, j.organization_id, j.environment, j.product_id, j.principal_id,
  j.capability_key, j.provider, j.model, j.mode::text AS mode, j.status::text AS status, j.billing_mode::text AS billing_mode,
  j.external_ref, j.tags, j.pricing_version, j.created_at, j.completed_at, j.estimated_micros::bigint AS estimated_micros,
  j.actual_micros::bigint AS actual_micros, j.receipt_id, NULL::jsonb AS usage,
  (j.pricing->>'serviceFeeBps')::integer AS fee_bps,
  -- Of a charge at the whole hold, since the cost is unknown.
  (j.pricing->>'maximumMicros')::bigint - (j.pricing->>'maximumUpstreamMicros')::bigint AS fee_on_hold_micros,
  j.comparison_id, j.is_blind,
  j.is_blind AND capstan_is_open(j.organization_id, j.project_id, j.comparison_id) AS is_veiled
FROM job j
UNION ALL
SELECT p.id, NULL, p.id, p.project_id, p.organization_id, p.environment, '', p.principal_id,
  'inference.pinned', p.provider, p.model, CASE WHEN p.bulk_id IS NULL THEN 'pinned' ELSE 'pinned_bulk' END, p.status::text,
  'byok', capstan_pinned_plan(p)->>'externalRef',
  ARRAY(SELECT jsonb_array_elements_text(capstan_pinned_plan(p)->'tags')), capstan_pinned_plan(p)->>'pricingVersion',
  p.created_at, p.completed_at, p.estimated_micros::bigint, p.actual_micros::bigint, p.receipt_id, p.usage, 0, 0::bigint,
  NULL, false, false
FROM pinned_execution p;

-- Takes up the next items of a bulk for its worker. Under the lock of the bulk and counted after it is held, so that never
-- more are under way than its lanes, however many processes ask at once; after a cancel there are none.
CREATE FUNCTION capstan_claim_items(bulk text, bulk_fence integer, owner text, wanted integer, until timestamptz, moment timestamptz)
RETURNS SETOF pinned_execution LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  room integer;
BEGIN
  SELECT b.lanes INTO room FROM pinned_bulk b
  WHERE b.id = bulk AND b.fence = bulk_fence AND b.status = 'running' AND b.cancel_requested_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT least(wanted, room - count(*)) INTO room FROM pinned_execution item
  WHERE item.bulk_id = bulk AND (item.status = 'running') IS TRUE;
  IF room <= 0 THEN RETURN; END IF;
  RETURN QUERY UPDATE pinned_execution item SET status = 'running', fence = item.fence + 1, lease_owner = owner,
    lease_until = until, started_at = coalesce(item.started_at, moment)
  FROM (SELECT waiting.id FROM pinned_execution waiting WHERE waiting.bulk_id = bulk AND (waiting.status = 'queued') IS TRUE
    ORDER BY waiting.position LIMIT room FOR UPDATE SKIP LOCKED) picked
  WHERE item.id = picked.id RETURNING item.*;
END $$;

-- Repeats of requests without an idempotency key (server/domain/jobs/repeats.ts).

-- The execution that a request joins instead of beginning one; null: none. From now on it is the one that waits for it, so that
-- each is joined by one repeat, and by another only when that one is lost in turn; an ambiguous outcome is anyone's who repeats.
-- A request that ran `stalled` without its lease being renewed is lost where nobody can know whether its process lives.
CREATE FUNCTION capstan_join(hash text, request text, process bigint, retries integer, awaits_end boolean, moment timestamptz,
  stalled timestamptz, guard_ms bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  ended_after timestamptz := moment - guard_ms * interval '1 millisecond';
  is_mine boolean := false;
  earlier record;
BEGIN
  -- Most requests are like no other, and are spared the rest.
  IF NOT EXISTS (SELECT FROM job j WHERE j.repeat_hash = hash) THEN RETURN NULL; END IF;
  LOOP
    SELECT j.id, j.status INTO earlier FROM job j
    WHERE j.repeat_hash = hash AND CASE
      WHEN j.status = 'failed' THEN j.completed_at > ended_after
      WHEN j.status = 'succeeded' THEN j.completed_at > ended_after
        AND (j.waiter_state = 'answered_early' OR (j.waiter_state = 'left' AND retries > 0))
        AND EXISTS (SELECT FROM payload p WHERE p.job_id = j.id AND p.kind = 'output' AND p.content IS NOT NULL
          AND (p.expires_at IS NULL OR p.expires_at > moment))
      WHEN j.status IN ('canceled', 'canceling') THEN false
      WHEN j.waiter_state <> 'waiting' OR j.waiter_retries < retries THEN true
      WHEN j.status = 'running' AND j.lease_until < CASE WHEN j.waiter_process IS NULL THEN stalled ELSE moment END THEN true
      -- Its process holds this lock while it lives; asked last, since asking takes it for a moment.
      ELSE j.waiter_process <> coalesce(process, 0) AND pg_try_advisory_xact_lock_shared(j.waiter_process) END
    ORDER BY j.status = 'failed', j.id LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
    -- Nothing is changed by who is told an outcome.
    IF earlier.status = 'failed' THEN RETURN earlier.id; END IF;
    EXIT WHEN is_mine;
    -- One at a time takes the place of a lost request; who waited for that looks again.
    PERFORM pg_advisory_xact_lock(hashtextextended('repeat ' || hash, 0));
    is_mine := true;
  END LOOP;
  UPDATE job j SET waiter = request, waiter_process = process, waiter_state = 'waiting', waiter_retries = retries,
    repeat_hash = CASE WHEN awaits_end AND j.status <> 'succeeded' THEN j.repeat_hash END
  WHERE j.id = earlier.id;
  RETURN earlier.id;
END $$;

-- What the workers ask all the time. ---------------------------------------------------------------------
-- Every execution writes to each index of its tables. One whose predicate a statement repeats may be read whole for a single
-- row, with those that have just left it, when the planner last saw few rows in it. IS TRUE keeps an index to the statements
-- that say so too, which want all rows of that state, from those that name a row and the state it must be in. None says of a
-- hold that it is open.

CREATE INDEX "job_to_dispatch" ON "job" ("dispatch_after") WHERE ("dispatch_state" = 'pending') IS TRUE;
CREATE INDEX "job_leases" ON "job" ("lease_until") WHERE ("status" IN ('running', 'canceling')) IS TRUE;
CREATE INDEX "job_queue_deadlines" ON "job" ("queue_deadline_at") WHERE ("status" = 'queued') IS TRUE;
CREATE INDEX "job_tags" ON "job" USING gin ("tags") WHERE "tags" <> '{}';
CREATE INDEX "job_approval_deadlines" ON "job" ("approval_deadline_at") WHERE ("status" = 'awaiting_approval') IS TRUE;
CREATE INDEX "job_needs_attention" ON "job" ("id") WHERE ("status" = 'needs_attention') IS TRUE;
CREATE INDEX "job_repeats" ON "job" ("repeat_hash") WHERE "repeat_hash" IS NOT NULL;
-- A column of its own: an index that names the newest event would be written to, as all others then, with each event.
ALTER TABLE "job" ADD COLUMN "webhook_behind" boolean GENERATED ALWAYS AS ("webhook_event" < "last_event") STORED;
CREATE INDEX "job_webhook_behind" ON "job" ("id") WHERE "webhook_behind";
CREATE UNIQUE INDEX "pinned_execution_key" ON "pinned_execution" ("project_id", "idempotency_key")
  WHERE "idempotency_key" IS NOT NULL;
CREATE UNIQUE INDEX "pinned_bulk_key" ON "pinned_bulk" ("project_id", "idempotency_key") WHERE "idempotency_key" IS NOT NULL;
CREATE UNIQUE INDEX "pinned_execution_item" ON "pinned_execution" ("bulk_id", "position") WHERE "bulk_id" IS NOT NULL;
CREATE INDEX "pinned_execution_waiting" ON "pinned_execution" ("bulk_id", "position") WHERE ("status" = 'queued') IS TRUE;
CREATE INDEX "pinned_execution_leases" ON "pinned_execution" ("lease_until") WHERE ("status" = 'running') IS TRUE;
CREATE INDEX "pinned_execution_under_way" ON "pinned_execution" ("bulk_id") WHERE ("status" = 'running') IS TRUE;
CREATE INDEX "pinned_bulk_leases" ON "pinned_bulk" ("lease_until") WHERE ("status" IN ('accepted', 'running')) IS TRUE;
-- One open invitation of an address to an organization.
CREATE UNIQUE INDEX "invitation_open" ON "invitation" ("organization_id", "email")
  WHERE "accepted_at" IS NULL AND "withdrawn_at" IS NULL;
CREATE INDEX "payload_of_pinned" ON "payload" ("pinned_id", "kind") WHERE "pinned_id" IS NOT NULL;
CREATE INDEX "payload_of_bulk" ON "payload" ("bulk_id") WHERE "bulk_id" IS NOT NULL;
CREATE INDEX "delivery_due" ON "delivery" ("next_attempt_at") WHERE ("state" IN ('pending', 'delivering')) IS TRUE;
CREATE INDEX "payload_expiries" ON "payload" ("expires_at") WHERE "content" IS NOT NULL AND "expires_at" IS NOT NULL;
CREATE INDEX "artifact_expiries" ON "artifact" ("expires_at") WHERE "pruned_at" IS NULL AND "expires_at" IS NOT NULL;
CREATE INDEX "artifact_bytes" ON "artifact" ("sha256") WHERE "pruned_at" IS NULL;
CREATE INDEX "delivery_bodies" ON "delivery" ("job_id") WHERE "body" IS NOT NULL AND "job_id" IS NOT NULL;
CREATE INDEX "event_text_expiries" ON "event_text" ("expires_at") WHERE "expires_at" IS NOT NULL;
-- A payment is counted once: its transactions are named by it and by what they bring it to.
CREATE UNIQUE INDEX "ledger_entry_of_payment" ON "ledger_entry" ("transaction_id", "account", "currency")
  WHERE "payment_id" IS NOT NULL;
CREATE INDEX "hold_corrected" ON "hold" ("organization_id") WHERE "resolved_by" IS NOT NULL;
CREATE INDEX "ledger_entry_of_hold" ON "ledger_entry" ("hold_id") WHERE "hold_id" IS NOT NULL;
CREATE INDEX "usage_to_count" ON "usage_counted" ("day") WHERE NOT "is_closed";
CREATE INDEX "budget_alerts_to_deliver" ON "budget_alert" ("id") WHERE "delivered_at" IS NULL;
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
