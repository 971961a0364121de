-- artifact_due takes its place.
DROP INDEX CONCURRENTLY IF EXISTS "artifact_expiries";
