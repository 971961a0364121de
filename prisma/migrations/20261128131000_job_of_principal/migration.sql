-- Lists of one principal's jobs: a key's own, and those of a project by one principal.
CREATE INDEX CONCURRENTLY "job_of_principal" ON "job" ("principal_id", "id");
