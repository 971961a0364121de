-- job_in_project has the same entries and more columns.
DROP INDEX CONCURRENTLY IF EXISTS "job_project_id_environment_id_idx";
