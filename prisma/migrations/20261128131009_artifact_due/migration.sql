-- Expired artifacts in the order of their time, a page at a time.
CREATE INDEX CONCURRENTLY "artifact_due" ON "artifact" ("expires_at", "id") WHERE "pruned_at" IS NULL AND "expires_at" IS NOT NULL;
