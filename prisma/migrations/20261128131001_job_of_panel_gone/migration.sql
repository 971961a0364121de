-- job_of_principal finds these, too.
DROP INDEX CONCURRENTLY IF EXISTS "job_of_panel";
