-- The jobs of one environment in order, with what lists filter by and what never changes after admission: a filter that few jobs
-- pass reads entries in place of rows.
CREATE INDEX CONCURRENTLY "job_in_project" ON "job" ("project_id", "environment", "id")
  INCLUDE ("capability_key", "principal_id", "provider", "model");
