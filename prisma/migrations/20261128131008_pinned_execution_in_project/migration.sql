-- Records of one environment are found by their executions.
CREATE INDEX CONCURRENTLY "pinned_execution_in_project" ON "pinned_execution" ("project_id", "environment", "id");
