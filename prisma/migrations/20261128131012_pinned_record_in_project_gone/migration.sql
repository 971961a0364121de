-- A list of records begins at their executions.
DROP INDEX CONCURRENTLY IF EXISTS "pinned_record_project_id_id_idx";
