-- Words and numbers a column may hold. -------------------------------------------------------------------
-- Domains instead of CHECK constraints on tables: PostgreSQL parses every CHECK of a table again for each statement
-- that writes to it, which took a seventh of the time of an admission. A domain's check is cached.

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
-- Checks a ledger transaction: its amounts sum to zero in each currency.
CREATE FUNCTION capstan_is_balanced(postings jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN jsonb_array_length(postings) BETWEEN 2 AND 64 AND NOT EXISTS (
    SELECT FROM jsonb_to_recordset(postings) AS p(account text, amount_micros bigint, kind text, currency text)
    GROUP BY coalesce(p.currency, 'USD')
    HAVING sum(p.amount_micros) <> 0 OR max(p.currency) !~ '^[A-Z]{3}$'
      OR bool_or(p.account IS NULL OR p.amount_micros IS NULL OR p.kind IS NULL));
END $$;
CREATE DOMAIN "ledger_postings" AS jsonb CONSTRAINT "postings_sum_to_zero" CHECK (capstan_is_balanced(VALUE));
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
CREATE DOMAIN "hold_resolution" AS text CONSTRAINT "hold_resolution_known" CHECK (VALUE IN
  ('person', 'late_answer', 'asked_again', 'written_off', 'never_sent'));
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
  ('event.id', 'ordinal'), ('attempt.number', 'ordinal'), ('attempt.submission', 'submission'),
  ('payload.kind', 'payload_kind'), ('artifact.sha256', 'sha256_hex'), ('artifact.byte_length', 'amount_of_bytes'),
  ('job.hold_state', 'hold_state'), ('job.hold_funding', 'hold_funding'), ('job.hold_settled_micros', 'amount_micros'),
  ('job.hold_resolution', 'hold_resolution'), ('pinned_hold.state', 'hold_state'),
  ('pinned_hold.amount_micros', 'amount_micros'), ('pinned_hold.settled_micros', 'amount_micros'),
  ('budget.period', 'budget_period'), ('budget.enforcement', 'budget_enforcement'),
  ('pinned_hold.billing_mode', 'billing_mode'), ('pinned_hold.funding', 'hold_funding'),
  ('pinned_hold.resolution', 'hold_resolution'),
  ('budget.ceiling_micros', 'amount_micros'), ('budget.increase_micros', 'amount_micros'),
  ('budget_window.held_micros', 'amount_micros'), ('budget_window.settled_micros', 'amount_micros'),
  ('wallet.held_micros', 'amount_micros'), ('wallet.allowance_micros', 'amount_micros'),
  ('wallet.allowance_used_micros', 'amount_micros'), ('wallet.allowance_held_micros', 'amount_micros'),
  ('ledger_transaction.postings', 'ledger_postings'), ('payment.currency', 'currency_code'),
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

-- Rules about two columns, or about rows that are rarely written, stay CHECK constraints.
ALTER TABLE "job" ADD CONSTRAINT "job_completed_when_terminal" CHECK
  ("completed_at" IS NOT NULL OR "status" NOT IN ('succeeded', 'failed', 'canceled'));
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_hash_is_sha256" CHECK (octet_length("hash") = 32);
-- A management key expires, is bound to no project, and was created by a person; a key that it created is bound to a
-- project.
ALTER TABLE "api_key" ADD CONSTRAINT "management_key_is_bounded" CHECK ("management" IS NULL OR
  ("project_id" IS NULL AND "made_by_key" IS NULL AND "expires_at" <= "created_at" + interval '2160 hours') IS TRUE);
ALTER TABLE "api_key" ADD CONSTRAINT "made_key_is_bound" CHECK ("made_by_key" IS NULL OR "project_id" IS NOT NULL);
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_token_is_sha256" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "session" ADD CONSTRAINT "session_of_device_has_token" CHECK
  (("kind" = 'device') = ("token_hash" IS NOT NULL) AND ("token_hash" IS NULL OR octet_length("token_hash") = 32));
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_code_is_sha256" CHECK (octet_length("code_hash") = 32);
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_is_decided_by_somebody" CHECK
  (num_nonnulls("decision", "decided_by", "version") IN (0, 3) AND ("used_at" IS NULL OR "decision" IS NOT DISTINCT FROM 'approved'));
ALTER TABLE "user_account" ADD CONSTRAINT "second_factor_has_secret" CHECK
  ("second_factor_at" IS NULL OR "second_factor_secret" IS NOT NULL);
-- Counted by capstan_count_panel_jobs.
ALTER TABLE "panel_session" ADD CONSTRAINT "panel_session_jobs_within_cap" CHECK ("admitted_jobs" BETWEEN 0 AND "max_jobs");
ALTER TABLE "panel_token" ADD CONSTRAINT "panel_token_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "panel_launch_code" ADD CONSTRAINT "panel_launch_code_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "mail" ADD CONSTRAINT "mail_tells_of_one_thing" CHECK
  (num_nonnulls("notification_id", "invitation_id") = 1 AND ("invitation_id" IS NULL) = ("invitation_nonce" IS NULL));

-- Rows of a few kilobytes are not compressed, because compressing them was a fifth of the work of an execution.
ALTER TABLE "job" SET (toast_tuple_target = 8160);
ALTER TABLE "attempt" SET (toast_tuple_target = 8160);
ALTER TABLE "payload" SET (toast_tuple_target = 8160);
ALTER TABLE "receipt" SET (toast_tuple_target = 8160);
ALTER TABLE "pinned_record" SET (toast_tuple_target = 8160);
-- Two rows per page leave room for a third, the next version of one of them. An update on the same page logs only the
-- range between the first and the last changed column, so the sealed quote, most of the row, is the last column (a
-- migration moved it).
ALTER TABLE "job" SET (fillfactor = 65);
-- The hold of a pinned execution is updated once, when it ends.
ALTER TABLE "pinned_hold" SET (fillfactor = 70);
-- Each ledger transaction reserves the numbers of its postings.
ALTER SEQUENCE "ledger_transaction_id_seq" INCREMENT BY 64;
