-- job_in_project has the environment of each entry.
DROP INDEX CONCURRENTLY IF EXISTS "job_project_id_environment_id_idx";
