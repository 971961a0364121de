-- Records are found by their executions; one without a record, such as a canceled item, has no entry.
CREATE INDEX CONCURRENTLY "pinned_execution_in_project" ON "pinned_execution" ("project_id", "environment", "id")
  WHERE "receipt_id" IS NOT NULL;
