-- What the workers ask all the time. ---------------------------------------------------------------------
-- Every execution writes to each index of its tables. If a statement repeats an index's predicate and the planner last
-- saw few rows in that index, it may read the whole index for a single row, including rows that have just left it. IS
-- TRUE reserves an index for statements that write it too, which want all rows of that state; statements that name a
-- row and its required state do not. No predicate mentions that a hold is open.

CREATE INDEX "job_to_dispatch" ON "job" ("dispatch_after") WHERE ("dispatch_state" = 'pending') IS TRUE;
-- Indexes for lists by status, and for the leases of running jobs. An execution is written to one of them once, and a
-- successful one leaves no entry at its end. No index includes the lease, so renewing it updates none.
CREATE INDEX "job_unfinished" ON "job" ("project_id", "status", "id" DESC) WHERE "completed_at" IS NULL;
CREATE INDEX "job_unsuccessful" ON "job" ("project_id", "status", "id" DESC) WHERE "status" IN ('failed', 'canceled');
CREATE INDEX "job_queue_deadlines" ON "job" ("queue_deadline_at") WHERE ("status" = 'queued') IS TRUE;
CREATE INDEX "job_tags" ON "job" USING gin ("tags") WHERE "tags" <> '{}';
CREATE INDEX "job_approval_deadlines" ON "job" ("approval_deadline_at") WHERE ("status" = 'awaiting_approval') IS TRUE;
CREATE INDEX "job_needs_attention" ON "job" ("id") WHERE ("status" = 'needs_attention') IS TRUE;
CREATE INDEX "job_repeats" ON "job" ("repeat_hash") WHERE "repeat_hash" IS NOT NULL;
-- A separate column, because an index on the newest event, and with it all others, would be updated with each event.
ALTER TABLE "job" ADD COLUMN "webhook_behind" boolean GENERATED ALWAYS AS ("webhook_event" < "last_event") STORED;
CREATE INDEX "job_webhook_behind" ON "job" ("id") WHERE "webhook_behind";
CREATE UNIQUE INDEX "pinned_execution_key" ON "pinned_execution" ("project_id", "idempotency_key")
  WHERE "idempotency_key" IS NOT NULL;
CREATE INDEX "job_released_key" ON "job" ("project_id", "released_key") WHERE "released_key" IS NOT NULL;
CREATE UNIQUE INDEX "pinned_bulk_key" ON "pinned_bulk" ("project_id", "idempotency_key") WHERE "idempotency_key" IS NOT NULL;
CREATE UNIQUE INDEX "pinned_execution_item" ON "pinned_execution" ("bulk_id", "position") WHERE "bulk_id" IS NOT NULL;
CREATE INDEX "pinned_execution_waiting" ON "pinned_execution" ("bulk_id", "position") WHERE ("status" = 'queued') IS TRUE;
CREATE INDEX "pinned_execution_leases" ON "pinned_execution" ("lease_until") WHERE ("status" = 'running') IS TRUE;
CREATE INDEX "pinned_execution_under_way" ON "pinned_execution" ("bulk_id") WHERE ("status" = 'running') IS TRUE;
CREATE INDEX "pinned_bulk_leases" ON "pinned_bulk" ("lease_until") WHERE ("status" IN ('accepted', 'running')) IS TRUE;
-- One open invitation per address and organization.
CREATE UNIQUE INDEX "invitation_open" ON "invitation" ("organization_id", "email")
  WHERE "accepted_at" IS NULL AND "withdrawn_at" IS NULL;
CREATE INDEX "payload_of_pinned" ON "payload" ("pinned_id", "kind") WHERE "pinned_id" IS NOT NULL;
CREATE INDEX "payload_of_bulk" ON "payload" ("bulk_id") WHERE "bulk_id" IS NOT NULL;
CREATE INDEX "delivery_due" ON "delivery" ("next_attempt_at") WHERE ("state" IN ('pending', 'delivering')) IS TRUE;
CREATE INDEX "payload_expiries" ON "payload" ("expires_at") WHERE "content" IS NOT NULL AND "expires_at" IS NOT NULL;
-- Expired artifacts in the order of their time, a page at a time.
CREATE INDEX "artifact_due" ON "artifact" ("expires_at", "id") WHERE "pruned_at" IS NULL AND "expires_at" IS NOT NULL;
CREATE INDEX "artifact_bytes" ON "artifact" ("sha256") WHERE "pruned_at" IS NULL;
-- Few deliveries are in another state than succeeded, and each leaves this index when it gets there.
CREATE INDEX "delivery_unsuccessful" ON "delivery" ("project_id", "state", "id") WHERE "state" <> 'succeeded';
-- Records are found by their executions; one without a record, such as a canceled item, has no entry.
CREATE INDEX "pinned_execution_in_project" ON "pinned_execution" ("project_id", "environment", "id")
  WHERE "receipt_id" IS NOT NULL;
CREATE INDEX "delivery_bodies" ON "delivery" ("job_id") WHERE "body" IS NOT NULL AND "job_id" IS NOT NULL;
CREATE INDEX "event_text_expiries" ON "event_text" ("expires_at") WHERE "expires_at" IS NOT NULL;
-- A payment is counted once, because its transactions are named by the payment and by the total they raise it to.
CREATE UNIQUE INDEX "ledger_transaction_of_payment" ON "ledger_transaction" ("transaction_id") WHERE "payment_id" IS NOT NULL;
CREATE INDEX "job_hold_corrected" ON "job" ("organization_id") WHERE "hold_resolved_by" IS NOT NULL;
CREATE INDEX "pinned_hold_corrected" ON "pinned_hold" ("organization_id") WHERE "resolved_by" IS NOT NULL;
CREATE INDEX "ledger_transaction_of_hold" ON "ledger_transaction" ("hold_id") WHERE "hold_id" IS NOT NULL;
CREATE INDEX "usage_to_count" ON "usage_counted" ("day") WHERE NOT "is_closed";
CREATE INDEX "budget_alerts_to_deliver" ON "budget_alert" ("id") WHERE "delivered_at" IS NULL;
CREATE INDEX "stream_frame_expiries" ON "stream_frame" ("expires_at") WHERE "expires_at" IS NOT NULL;
